package registry

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

func TestDeletionFinalizers(t *testing.T) {
	t.Parallel()
	orphan, foreground, background := metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground, metav1.DeletePropagationBackground
	for _, c := range []struct {
		name    string
		has     []string
		options metav1.DeleteOptions
		kind    resource.Propagation
		want    []string
	}{
		{"nothing said", nil, metav1.DeleteOptions{}, resource.Background, nil},
		{"a kind that orphans", nil, metav1.DeleteOptions{}, resource.Orphan, []string{"orphan"}},
		{"orphan", []string{"a/b"}, metav1.DeleteOptions{PropagationPolicy: &orphan}, resource.Background, []string{"a/b", "orphan"}},
		{"foreground", nil, metav1.DeleteOptions{PropagationPolicy: &foreground}, resource.Background, []string{"foregroundDeletion"}},
		{"background instead of foreground before", []string{"foregroundDeletion"}, metav1.DeleteOptions{PropagationPolicy: &background}, resource.Background, nil},
		{"foreground before, nothing said now", []string{"foregroundDeletion"}, metav1.DeleteOptions{}, resource.Background, []string{"foregroundDeletion"}},
		{"the old way", nil, metav1.DeleteOptions{OrphanDependents: ptr.To(true)}, resource.Background, []string{"orphan"}},
		{"a kind without dependents", nil, metav1.DeleteOptions{PropagationPolicy: &orphan}, resource.Unsupported, nil},
	} {
		obj := &corev1.ConfigMap{}
		obj.Finalizers = c.has
		if got := deletionFinalizers(&resource.Resource{Propagation: c.kind}, obj, &c.options); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMarkDeleted(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{}
		p.Generation = 1
		p.Spec.NodeName = "n"
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](30)
		change(p)
		return p
	}
	deleting := func(left int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			at := metav1.NewTime(now.Add(time.Duration(left) * time.Second))
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &left
		}
	}
	nothing := func(*corev1.Pod) {}
	for _, c := range []struct {
		name  string
		pod   *corev1.Pod
		grace *int64
		step  deleteStep
		left  int64 // -1: none
	}{
		{"running", pod(nothing), nil, deleteLater, 30},
		{"running, at once", pod(nothing), ptr.To[int64](0), markThenDelete, 0},
		{"running, negative", pod(nothing), ptr.To[int64](-5), deleteLater, 1},
		{"on no node", pod(func(p *corev1.Pod) { p.Spec.NodeName = "" }), nil, markThenDelete, 0},
		{"ended", pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), nil, markThenDelete, 0},
		{"on its way, same again", pod(deleting(30)), nil, alreadyDeleting, 30},
		{"on its way, longer", pod(deleting(30)), ptr.To[int64](60), alreadyDeleting, 30},
		{"on its way, shorter", pod(deleting(30)), ptr.To[int64](5), deleteLater, 5},
		{"on its way, confirmed", pod(deleting(30)), ptr.To[int64](0), markThenDelete, 0},
		{"held by a finalizer", pod(func(p *corev1.Pod) { p.Finalizers = []string{"a/b"} }), ptr.To[int64](0), deleteLater, 0},
	} {
		r := &Registry{Options: Options{Resource: core.Pod, Now: func() time.Time { return now }}}
		step := r.markDeleted(c.pod, &metav1.DeleteOptions{GracePeriodSeconds: c.grace})
		left := ptr.Deref(c.pod.DeletionGracePeriodSeconds, -1)
		if step != c.step || left != c.left {
			t.Errorf("%s: step %d with %d s left, want %d with %d", c.name, step, left, c.step, c.left)
		}
	}
}
