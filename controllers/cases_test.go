package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// TestCases are behaviours that others got wrong.
func TestCases(t *testing.T) {
	t.Parallel()
	runScenarios(t, 2, map[string]func(*world){
		"pods go before the rest": podsBeforeTheRest,
		"a name too long":         aNameTooLong,
		"stuck in order":          stuckInOrder,
		"replaced in parallel":    replacedInParallel,
	})
}

// podsBeforeTheRest: k/k#138208. Nothing else of a namespace goes while one of its pods is there.
func podsBeforeTheRest(w *world) {
	ctx := w.Context()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/held"}},
		Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](0), Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	w.eventually(func(ctx context.Context) string {
		_, err := w.client.CoreV1().Pods(w.ns).Create(ctx, pod, metav1.CreateOptions{}) // once there is a ServiceAccount
		if err != nil {
			return err.Error()
		}
		return ""
	})
	w.must(w.client.CoreV1().ConfigMaps(w.ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stays"}}, metav1.CreateOptions{}))
	w.do(w.client.CoreV1().Namespaces().Delete(ctx, w.ns, metav1.DeleteOptions{}))
	w.eventually(func(ctx context.Context) string {
		p, err := w.client.CoreV1().Pods(w.ns).Get(ctx, "held", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		ns, err := w.client.CoreV1().Namespaces().Get(ctx, w.ns, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if p.DeletionTimestamp == nil || len(ns.Status.Conditions) == 0 {
			return "nothing happened yet"
		}
		return ""
	})
	w.must(w.client.CoreV1().ConfigMaps(w.ns).Get(ctx, "stays", metav1.GetOptions{}))
	w.must(w.client.CoreV1().Pods(w.ns).Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	w.eventually(func(ctx context.Context) string {
		if _, err := w.client.CoreV1().Namespaces().Get(ctx, w.ns, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return "the namespace is left"
		}
		return ""
	})
}

func statefulSetOf(name string, change func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	labels := map[string]string{"app": "db"}
	s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: "db",
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](0), Containers: []corev1.Container{{Name: "c", Image: "app:1"}}}},
	}}
	if change != nil {
		change(s)
	}
	return s
}

// aNameTooLong: k/k#64023, #79337. The set is accepted, its pods can't be made, and an event says so.
func aNameTooLong(w *world) {
	name := strings.Repeat("x", 57)
	w.must(w.client.AppsV1().StatefulSets(w.ns).Create(w.Context(), statefulSetOf(name, nil), metav1.CreateOptions{}))
	w.eventually(func(ctx context.Context) string {
		list, err := w.client.CoreV1().Events(w.ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
		if err != nil {
			return err.Error()
		}
		for _, e := range list.Items {
			if strings.Contains(e.Message, "must be no more than 63") {
				return ""
			}
		}
		return fmt.Sprintf("%d events", len(list.Items))
	})
	if pods := w.pods(w.Context()); len(pods) != 0 {
		w.Errorf("%d pods", len(pods))
	}
}

// broken makes a set whose pods never get ready, repairs it, and waits until the controller has seen that.
func broken(w *world, policy appsv1.PodManagementPolicyType) {
	sets, ctx := w.client.AppsV1().StatefulSets(w.ns), w.Context()
	w.must(sets.Create(ctx, statefulSetOf("db", func(s *appsv1.StatefulSet) {
		s.Spec.PodManagementPolicy = policy
		s.Spec.Template.Spec.NodeSelector = map[string]string{"no": "such"}
	}), metav1.CreateOptions{}))
	var revision string
	w.eventually(func(ctx context.Context) string {
		s, err := sets.Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if revision = s.Status.UpdateRevision; revision == "" || len(w.pods(ctx)) == 0 {
			return "no pod"
		}
		return ""
	})
	w.must(sets.Patch(ctx, "db", types.MergePatchType, []byte(`{"spec":{"template":{"spec":{"nodeSelector":null}}}}`), metav1.PatchOptions{}))
	w.eventually(func(ctx context.Context) string {
		s, err := sets.Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if s.Status.ObservedGeneration != s.Generation || s.Status.UpdateRevision == revision {
			return fmt.Sprintf("status %+v", s.Status)
		}
		return ""
	})
}

func (w *world) setReady() {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		s, err := w.client.AppsV1().StatefulSets(w.ns).Get(ctx, "db", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if s.Status.ReadyReplicas != 2 || s.Status.UpdatedReplicas != 2 {
			return fmt.Sprintf("status %+v", s.Status)
		}
		return ""
	})
}

// stuckInOrder: k/k#67250. A pod that never got ready is not replaced by one of the repaired template until somebody deletes it.
func stuckInOrder(w *world) {
	broken(w, appsv1.OrderedReadyPodManagement)
	pods := w.pods(w.Context())
	if len(pods) != 1 || len(pods[0].Spec.NodeSelector) != 1 || pods[0].DeletionTimestamp != nil {
		w.Fatalf("%d pods, the first %+v", len(pods), pods[0].ObjectMeta)
	}
	w.do(w.client.CoreV1().Pods(w.ns).Delete(w.Context(), "db-0", metav1.DeleteOptions{}))
	w.setReady()
}

// replacedInParallel is the same with the policy Parallel, where nobody needs to.
func replacedInParallel(w *world) {
	broken(w, appsv1.ParallelPodManagement)
	w.setReady()
}
