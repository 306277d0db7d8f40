package replicaset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// apply makes and deletes pods as planned and gives the first error.
func (r *reconciler) apply(ctx context.Context, rs *appsv1.ReplicaSet, plan Plan) error {
	if plan.Create > 0 {
		return slowStart(plan.Create, func() error { return r.createPod(ctx, rs) })
	}
	return together(len(plan.Delete), func(i int) error { return r.deletePod(ctx, rs, plan.Delete[i]) })
}

// slowStart calls make count times in batches of 1, 2, 4, …, each batch at the same
// time, and stops after the first batch in which a call failed.
func slowStart(count int, make func() error) error {
	for batch := 1; count > 0; batch *= 2 {
		batch = min(batch, count)
		if err := together(batch, func(int) error { return make() }); err != nil {
			return err
		}
		count -= batch
	}
	return nil
}

// together calls do for 0 to count-1 at the same time and gives the first error.
func together(count int, do func(i int) error) error {
	failed := make([]error, count)
	var group sync.WaitGroup
	for i := range count {
		group.Go(func() { failed[i] = do(i) })
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) createPod(ctx context.Context, rs *appsv1.ReplicaSet) error {
	if len(rs.Spec.Template.Labels) == 0 {
		return errors.New("unable to create pods, no labels")
	}
	pod := newPod(rs)
	switch err := r.client.Create(ctx, pod); {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // no create can succeed any more, and soon there is no ReplicaSet
	case err != nil:
		r.events.Eventf(rs, corev1.EventTypeWarning, "FailedCreate", "Error creating: %v", err)
		return err
	}
	r.events.Eventf(rs, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: %v", pod.Name)
	return nil
}

func (r *reconciler) deletePod(ctx context.Context, rs *appsv1.ReplicaSet, pod *corev1.Pod) error {
	switch err := r.client.Delete(ctx, pod.DeepCopy()); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		r.events.Eventf(rs, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
		return fmt.Errorf("unable to delete pods: %w", err)
	}
	r.events.Eventf(rs, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", pod.Name)
	return nil
}

// newPod is a pod of the template, named by the API server after the ReplicaSet.
func newPod(rs *appsv1.ReplicaSet) *corev1.Pod {
	template := rs.Spec.Template.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    namePrefix(rs.Name),
			Namespace:       rs.Namespace,
			Labels:          maps.Clone(template.Labels),
			Annotations:     maps.Clone(template.Annotations),
			Finalizers:      slices.Clone(template.Finalizers),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, replicaSetKind)},
		},
		Spec: template.Spec,
	}
}

// namePrefix ends in a dash for the eye, unless the name has no room for it.
func namePrefix(name string) string {
	if len(name)+len("-") <= validation.DNS1123SubdomainMaxLength {
		return name + "-"
	}
	return name
}
