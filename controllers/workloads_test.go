package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// TestWorkloads runs a scenario for each kind of workload, in one cluster.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	runScenarios(t, 3, map[string]func(*world){
		"replication controller": replicationController,
		"daemon set":             daemonSet,
		"stateful set":           statefulSet,
		"budget":                 disruptionBudget,
		"job":                    indexedJob,
		"failing job":            failingJob,
		"quota":                  resourceQuota,
		"volumes":                volumes,
	})
}

// template is a pod template that ends fast when told to.
func template(app, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

// reported waits for an event of the reason whose message has the text in it.
func (w *world) reported(source, reason, text string) {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		events, err := w.client.CoreV1().Events(w.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, event := range events.Items {
			if event.Source.Component == source && event.Reason == reason && strings.Contains(event.Message, text) {
				return ""
			}
		}
		return fmt.Sprintf("no event %s with %q from %s", reason, text, source)
	})
}

func replicationController(w *world) {
	controllers := w.client.CoreV1().ReplicationControllers(w.ns)
	t := template("rc", "app:1")
	w.must(controllers.Create(w.Context(), &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "rc"},
		Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](3), Template: &t}}, metav1.CreateOptions{}))
	has := func(n int32) {
		w.Helper()
		w.eventually(func(ctx context.Context) string {
			rc, err := controllers.Get(ctx, "rc", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if s := rc.Status; s.Replicas != n || s.AvailableReplicas != n || s.FullyLabeledReplicas != n || s.ObservedGeneration != rc.Generation {
				return fmt.Sprintf("status %+v", s)
			}
			return ""
		})
	}
	has(3)
	w.reported("replication-controller", "SuccessfulCreate", "Created pod: rc-")
	scale, err := controllers.GetScale(w.Context(), "rc", metav1.GetOptions{})
	w.do(err)
	scale.Spec.Replicas = 1
	w.must(controllers.UpdateScale(w.Context(), "rc", scale, metav1.UpdateOptions{}))
	has(1)
	w.reported("replication-controller", "SuccessfulDelete", "Deleted pod: rc-")
}

func daemonSet(w *world) {
	sets := w.client.AppsV1().DaemonSets(w.ns)
	w.must(sets.Create(w.Context(), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}, Template: template("agent", "app:1")}}, metav1.CreateOptions{}))
	everywhere := func(image string) {
		w.Helper()
		w.eventually(func(ctx context.Context) string {
			ds, err := sets.Get(ctx, "agent", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if s := ds.Status; s.ObservedGeneration != ds.Generation || s.UpdatedNumberScheduled != 3 || s.NumberAvailable != 3 || s.NumberUnavailable != 0 {
				return fmt.Sprintf("status %+v", s)
			}
			nodes := map[string]bool{}
			for _, pod := range w.pods(ctx) {
				if pod.DeletionTimestamp == nil && pod.Spec.Containers[0].Image == image {
					nodes[pod.Spec.NodeName] = true
				}
			}
			if len(nodes) != 3 {
				return fmt.Sprintf("on %v", nodes)
			}
			return ""
		})
	}
	everywhere("app:1")
	w.reported("daemonset-controller", "SuccessfulCreate", "Created pod: agent-")
	w.must(sets.Patch(w.Context(), "agent", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"app:2"}]}}}}`), metav1.PatchOptions{}))
	everywhere("app:2")
	w.eventually(func(ctx context.Context) string {
		history, err := w.client.AppsV1().ControllerRevisions(w.ns).List(ctx, metav1.ListOptions{})
		if err != nil || len(history.Items) != 2 {
			return fmt.Sprintf("history %v, error %v", history, err)
		}
		return ""
	})
}

func statefulSet(w *world) {
	sets := w.client.AppsV1().StatefulSets(w.ns)
	w.must(sets.Create(w.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](3), ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, Template: template("db", "app:1"),
	}}, metav1.CreateOptions{}))
	has := func(n int32, image string) {
		w.Helper()
		w.eventually(func(ctx context.Context) string {
			set, err := sets.Get(ctx, "db", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if s := set.Status; s.ObservedGeneration != set.Generation || s.Replicas != n || s.AvailableReplicas != n || s.UpdatedReplicas != n ||
				s.CurrentReplicas != n || s.CurrentRevision != s.UpdateRevision {
				return fmt.Sprintf("status %+v", s)
			}
			for i := range n {
				pod, err := w.client.CoreV1().Pods(w.ns).Get(ctx, fmt.Sprintf("db-%d", i), metav1.GetOptions{})
				if err != nil {
					return err.Error()
				}
				if pod.Spec.Containers[0].Image != image || pod.Spec.Hostname != pod.Name || pod.Labels["apps.kubernetes.io/pod-index"] != fmt.Sprint(i) {
					return fmt.Sprintf("pod %s: image %s, host %s, labels %v", pod.Name, pod.Spec.Containers[0].Image, pod.Spec.Hostname, pod.Labels)
				}
			}
			return ""
		})
	}
	has(3, "app:1")
	w.reported("statefulset-controller", "SuccessfulCreate", "Create Pod db-2 in StatefulSet db successful")
	w.must(sets.Patch(w.Context(), "db", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"app:2"}]}}}}`), metav1.PatchOptions{}))
	has(3, "app:2")
	w.must(sets.Patch(w.Context(), "db", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}))
	has(1, "app:2")
	w.reported("statefulset-controller", "SuccessfulDelete", "Delete Pod db-2 in StatefulSet db successful")
}

func disruptionBudget(w *world) {
	budgets := w.client.PolicyV1().PodDisruptionBudgets(w.ns)
	w.must(budgets.Create(w.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}, metav1.CreateOptions{}))
	allows := func(allowed, healthy, expected int32, reason string) {
		w.Helper()
		w.eventually(func(ctx context.Context) string {
			budget, err := budgets.Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			s := budget.Status
			condition := meta.FindStatusCondition(s.Conditions, policyv1.DisruptionAllowedCondition)
			if s.DisruptionsAllowed != allowed || s.CurrentHealthy != healthy || s.ExpectedPods != expected || condition == nil || condition.Reason != reason {
				return fmt.Sprintf("status %+v", s)
			}
			return ""
		})
	}
	allows(0, 0, 0, policyv1.InsufficientPodsReason)
	w.deployment("web", 3, nil)
	allows(1, 3, 3, policyv1.SufficientPodsReason)
	w.patch("web", `{"spec":{"replicas":1}}`)
	allows(1, 1, 1, policyv1.SufficientPodsReason)
}
