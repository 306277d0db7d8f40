package podcontrol

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

// Control makes and deletes pods and reports it.
type Control struct {
	Client client.Client
	Events record.EventRecorder
}

// Create makes a pod of owner's. A namespace that is being deleted is no error: no create
// can succeed any more, and soon there is no owner.
func (c Control) Create(ctx context.Context, owner client.Object, pod *corev1.Pod) error {
	if len(pod.Labels) == 0 {
		return errors.New("unable to create pods, no labels")
	}
	switch err := c.Client.Create(ctx, pod); {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil
	case err != nil:
		c.Events.Eventf(owner, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
		return err
	}
	c.Events.Eventf(owner, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", pod.Name)
	return nil
}

// Delete deletes a pod of owner's.
func (c Control) Delete(ctx context.Context, owner client.Object, pod *corev1.Pod) error {
	switch err := c.Client.Delete(ctx, pod.DeepCopy()); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		c.Events.Eventf(owner, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
		return fmt.Errorf("unable to delete pods: %w", err)
	}
	c.Events.Eventf(owner, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", pod.Name)
	return nil
}

// Owned lists the pods whose controller has the given uid; the empty uid lists orphans.
// They belong to the cache and must not be changed.
func (c Control) Owned(ctx context.Context, namespace string, owner types.UID) ([]*corev1.Pod, error) {
	var list corev1.PodList
	err := c.Client.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingFields{component.PodOwnerIndex: string(owner)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := make([]*corev1.Pod, 0, len(list.Items))
	for i := range list.Items {
		pods = append(pods, &list.Items[i])
	}
	return pods, nil
}

// Candidates lists the pods that owner has or might adopt.
func (c Control) Candidates(ctx context.Context, owner metav1.Object) ([]*corev1.Pod, error) {
	owned, err := c.Owned(ctx, owner.GetNamespace(), owner.GetUID())
	if err != nil {
		return nil, err
	}
	orphans, err := c.Owned(ctx, owner.GetNamespace(), "")
	if err != nil {
		return nil, err
	}
	return append(owned, orphans...), nil
}

// NewPod is a pod of the template, to be named by the API server after its owner.
func NewPod(template *corev1.PodTemplateSpec, owner metav1.Object, kind schema.GroupVersionKind) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    namePrefix(owner.GetName()),
			Namespace:       owner.GetNamespace(),
			Labels:          maps.Clone(template.Labels),
			Annotations:     maps.Clone(template.Annotations),
			Finalizers:      slices.Clone(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Spec: *template.Spec.DeepCopy(),
	}
}

// namePrefix ends in a dash for the eye, unless the name has no room for it.
func namePrefix(name string) string {
	if len(name)+len("-") <= validation.DNS1123SubdomainMaxLength {
		return name + "-"
	}
	return name
}
