package cluster_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
)

// start runs a cluster of the test's own.
func start(t *testing.T, o cluster.Options) (*cluster.Cluster, kubernetes.Interface) {
	t.Helper()
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
	c, err := cluster.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	clients, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c, clients
}

// eventually asks until the answer is yes.
func eventually(t *testing.T, what string, ask func(ctx context.Context) (bool, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for {
		ok, how := ask(ctx)
		if ok {
			return
		}
		if ctx.Err() == nil {
			last = how
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never; last %s", what, last)
		case <-tick.C:
		}
	}
}

func deployment(name string, replicas int32, image string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}}}},
	}
}

// TestRollout follows a Deployment from its creation through an update to its deletion with all that it owns.
func TestRollout(t *testing.T) {
	t.Parallel()
	_, c := start(t, cluster.Options{Nodes: 2})
	ctx := t.Context()
	// Pods that ask for much go to the emptier node, once both are open to them.
	eventually(t, "nodes open", func(ctx context.Context) (bool, string) {
		nodes, err := c.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		open := 0
		for _, n := range nodes.Items {
			if len(n.Spec.Taints) == 0 && len(n.Status.Conditions) > 0 {
				open++
			}
		}
		return open == 2, fmt.Sprintf("%d of %d", open, len(nodes.Items))
	})
	deployments := c.AppsV1().Deployments("default")
	web := deployment("web", 3, "nginx:1.27")
	web.Spec.Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	if _, err := deployments.Create(ctx, web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	complete := func(ctx context.Context) (bool, string) {
		d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		s := d.Status
		return s.ObservedGeneration == d.Generation && s.UpdatedReplicas == 3 && s.AvailableReplicas == 3 && s.Replicas == 3, s.String()
	}
	eventually(t, "first rollout", complete)
	d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d.Spec.Template.Spec.Containers[0].Image = "nginx:1.28"
	if _, err := deployments.Update(ctx, d, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "second rollout", complete)
	pods, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]bool{}
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil && p.Spec.Containers[0].Image != "nginx:1.28" {
			t.Errorf("pod %s runs %s", p.Name, p.Spec.Containers[0].Image)
		}
		nodes[p.Spec.NodeName] = true
	}
	if len(nodes) != 2 {
		t.Errorf("pods stand on %v", nodes)
	}
	if err := deployments.Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "everything gone", func(ctx context.Context) (bool, string) {
		pods, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		sets, err := c.AppsV1().ReplicaSets("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		ds, err := deployments.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		return len(pods.Items)+len(sets.Items)+len(ds.Items) == 0, ""
	})
}

// TestNamespaceGoes deletes a namespace with pods in it.
func TestNamespaceGoes(t *testing.T) {
	t.Parallel()
	_, c := start(t, cluster.Options{Nodes: 1})
	ctx := t.Context()
	if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "default service account", func(ctx context.Context) (bool, string) {
		_, err := c.CoreV1().ServiceAccounts("n").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, "missing"
	})
	if _, err := c.AppsV1().Deployments("n").Create(ctx, deployment("web", 2, "nginx:1.27"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().Namespaces().Delete(ctx, "n", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "namespace gone", func(ctx context.Context) (bool, string) {
		ns, err := c.CoreV1().Namespaces().Get(ctx, "n", metav1.GetOptions{})
		return err != nil, ns.String()
	})
}
