package controllers_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
)

// TestWorkloads runs a scenario for each kind of workload, in one cluster.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	c, err := cluster.Start(t.Context(), cluster.Options{Nodes: 3, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	for name, scenario := range map[string]func(*world){
		"replication controller": replicationController,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, client: client, ns: strings.ReplaceAll(name, " ", "-")}
			w.must(client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}, metav1.CreateOptions{}))
			scenario(w)
		})
	}
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
