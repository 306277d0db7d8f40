package handlers

import (
	"context"
	"fmt"
	"maps"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// bind assigns a pod to a node: once, and only a pod that is neither gated nor being deleted.
func bind(w http.ResponseWriter, r *http.Request, s *Scope) {
	if r.Method != http.MethodPost {
		NotAllowed(w, r)
		return
	}
	out, err := negotiation.Negotiate(r, negotiation.Endpoint{})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.postBinding(w, r, out)
}

// postBinding binds the pod that the path names, or, by the old way, the binding.
func (s *Scope) postBinding(w http.ResponseWriter, r *http.Request, out negotiation.Output) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	b, o, err := s.bindingInput(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	update := registry.UpdateOptions{WriteOptions: registry.WriteOptions{DryRun: len(o.DryRun) > 0}, Hooks: &resource.Hooks{}, UID: b.UID}
	if err := s.admitBinding(ctx, b, o); err != nil {
		s.fail(w, r, err)
		return
	}
	pods := s.handlers.Registry(corev1.SchemeGroupVersion.WithResource("pods"))
	_, err = pods.Update(ctx, s.Info.Namespace, b.Name, func(_ context.Context, current resource.Object, _ bool) (resource.Object, error) {
		return assign(current.(*corev1.Pod), b, metav1.NewTime(pods.Now()))
	}, update)
	if err != nil {
		s.fail(w, r, bindingError(err, b.Name))
		return
	}
	writeMeta(w, r, http.StatusCreated, out, statusGVK, &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated})
}

// admitBinding lets admission change and judge the binding, of a pod's endpoint or of its own.
func (s *Scope) admitBinding(ctx context.Context, b *corev1.Binding, o *metav1.CreateOptions) error {
	a := &registry.Attributes{Operation: registry.Create, Resource: s.Resource, Subresource: s.subresource(),
		Namespace: s.Info.Namespace, Name: b.Name, Object: b, DryRun: len(o.DryRun) > 0}
	admission := s.handlers.Registry(corev1.SchemeGroupVersion.WithResource("pods")).Admission
	if err := admission.Mutate(ctx, a); err != nil {
		return err
	}
	return admission.Validate(ctx, a)
}

func (s *Scope) bindingInput(r *http.Request) (*corev1.Binding, *metav1.CreateOptions, error) {
	b, o, err := posted(s, r, &corev1.Binding{})
	if err != nil {
		return nil, nil, err
	}
	if err := matchNamespace(s, b); err != nil {
		return nil, nil, err
	}
	gate := s.gate(registry.Create, b, o, len(o.DryRun) > 0)
	if err := gate.mutate(r.Context()); err != nil {
		return nil, nil, err
	}
	if s.Sub != nil && b.Name != s.Info.Name {
		return nil, nil, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if errs := validateBinding(b); len(errs) > 0 {
		// Such an error has neither code nor reason on a genuine server.
		return nil, nil, errs.ToAggregate()
	}
	return b, o, gate.judge(r.Context())
}

func validateBinding(b *corev1.Binding) field.ErrorList {
	var errs field.ErrorList
	if k := b.Target.Kind; k != "" && k != "Node" {
		errs = append(errs, field.NotSupported(field.NewPath("target", "kind"), k, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(field.NewPath("target", "name"), ""))
	}
	return errs
}

// assign puts the pod onto the binding's node.
func assign(pod *corev1.Pod, b *corev1.Binding, now metav1.Time) (resource.Object, error) {
	switch {
	case pod.DeletionTimestamp != nil:
		return nil, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return nil, fmt.Errorf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return nil, fmt.Errorf("pod %v has non-empty .spec.schedulingGates", pod.Name)
	}
	if b.ResourceVersion != "" && b.ResourceVersion != pod.ResourceVersion {
		return nil, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s)", b.ResourceVersion, pod.ResourceVersion)
	}
	pod.Spec.NodeName = b.Target.Name
	if len(b.Annotations) > 0 && pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	maps.Copy(pod.Annotations, b.Annotations)
	if len(b.Labels) > 0 && pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	maps.Copy(pod.Labels, b.Labels)
	setScheduled(&pod.Status, now)
	return pod, nil
}

func setScheduled(st *corev1.PodStatus, now metav1.Time) {
	for i := range st.Conditions {
		c := &st.Conditions[i]
		if c.Type != corev1.PodScheduled {
			continue
		}
		if c.Status != corev1.ConditionTrue {
			c.LastTransitionTime = now
		}
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "", ""
		return
	}
	st.Conditions = append(st.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now})
}

// bindingError makes a conflict of a pod that can't be bound.
func bindingError(err error, name string) error {
	if status := toStatus(err); status.Code != http.StatusInternalServerError {
		return err
	}
	return apierrors.NewConflict(corev1.Resource("pods/binding"), name, err)
}
