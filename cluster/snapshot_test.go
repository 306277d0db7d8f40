package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
)

const shipDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.kogge.example}
spec:
  group: kogge.example
  scope: Namespaced
  names: {plural: ships, singular: ship, kind: Ship, listKind: ShipList}
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.port}]
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {port: {type: string}, masts: {type: integer, default: 1}}}}}}
`

var ships = schema.GroupVersionResource{Group: "kogge.example", Version: "v1", Resource: "ships"}

func ship(name, port string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kogge.example/v1", "kind": "Ship",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"port": port}}}
}

// fleet gives the ships of the default namespace in a port: resource version, UID and masts by name.
func fleet(t *testing.T, c *cluster.Cluster, port string) map[string]string {
	t.Helper()
	out := map[string]string{}
	eventually(t, "ships are served", func(ctx context.Context) (bool, string) {
		list, err := dynamicClient(t, c).Resource(ships).Namespace("default").List(ctx, metav1.ListOptions{FieldSelector: "spec.port=" + port})
		if err != nil {
			return false, err.Error()
		}
		for _, s := range list.Items {
			masts, _, err := unstructured.NestedInt64(s.Object, "spec", "masts")
			if err != nil {
				t.Error(err)
			}
			out[s.GetName()] = fmt.Sprint(s.GetResourceVersion(), s.GetUID(), masts)
		}
		return true, ""
	})
	return out
}

func dynamicClient(t *testing.T, c *cluster.Cluster) dynamic.Interface {
	t.Helper()
	d, err := dynamic.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
}

// sailing starts a cluster without controllers that has a definition, two ships and a ConfigMap.
func sailing(t *testing.T) (*cluster.Cluster, kubernetes.Interface) {
	t.Helper()
	parent, clients := start(t, cluster.Options{Controllers: []string{}, WithoutScheduler: true})
	file := filepath.Join(t.TempDir(), "ships.yaml")
	if err := os.WriteFile(file, []byte(shipDefinition), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := parent.InstallCRDs(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*unstructured.Unstructured{ship("hansa", "kiel"), ship("adler", "riga")} {
		if _, err := dynamicClient(t, parent).Resource(ships).Namespace("default").Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := clients.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "harbour"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return parent, clients
}

// TestFork: a fork has the same objects, and neither it nor its parent sees what becomes of the other.
func TestFork(t *testing.T) {
	t.Parallel()
	parent, clients := sailing(t)
	ctx := t.Context()
	fork, err := parent.Fork(ctx, cluster.Options{Controllers: []string{}, WithoutScheduler: true})
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Stop()
	forked, err := kubernetes.NewForConfig(fork.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	was, err := clients.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	is, err := forked.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
	if err != nil || is.UID != was.UID || is.ResourceVersion != was.ResourceVersion {
		t.Errorf("%v, %v, not as %v", is, err, was)
	}
	if got, want := fleet(t, fork, "kiel"), fleet(t, parent, "kiel"); len(got) != 1 || !maps.Equal(got, want) {
		t.Errorf("ships %v, not %v", got, want)
	}
	is.Data["value"] = "2"
	if _, err := forked.CoreV1().ConfigMaps("default").Update(ctx, is, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := dynamicClient(t, fork).Resource(ships).Namespace("default").Delete(ctx, "adler", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if again, err := clients.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{}); err != nil || again.Data["value"] != "1" {
		t.Errorf("the parent has %v, %v", again, err)
	}
	if got := fleet(t, parent, "riga"); len(got) != 1 {
		t.Errorf("the parent has %v", got)
	}
	if _, err := kubernetes.NewForConfigOrDie(fork.RESTConfig()).CoreV1().ConfigMaps("default").Create(ctx, configMap("b", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.CoreV1().ConfigMaps("default").Get(ctx, "b", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the parent has the fork's: %v", err)
	}
}

// TestSnapshotOnDisk brings a snapshot through a file into a cluster in etcd.
func TestSnapshotOnDisk(t *testing.T) {
	t.Parallel()
	parent, clients := sailing(t)
	snapshot, err := parent.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := snapshot.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if snapshot, err = cluster.ReadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	o := cluster.Options{Controllers: []string{}, WithoutScheduler: true, From: snapshot, Dir: t.TempDir()}
	later, laterClients := start(t, o)
	was, err := clients.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	is, err := laterClients.CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || is.UID != was.UID {
		t.Errorf("%v, %v, not as %v", is, err, was)
	}
	if got := fleet(t, later, "kiel"); len(got) != 1 {
		t.Errorf("ships %v", got)
	}
}

// TestRestore: objects are again those of the snapshot, resource versions go on, and a watch sees the difference.
func TestRestore(t *testing.T) {
	t.Parallel()
	c, clients := sailing(t)
	ctx := t.Context()
	maps := clients.CoreV1().ConfigMaps("default")
	was, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := c.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b, err := maps.Create(ctx, configMap("b", "1"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := clients.CoreV1().Namespaces().Delete(ctx, "harbour", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: b.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := c.Restore(ctx, snapshot); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 2 {
		e := <-w.ResultChan()
		m := e.Object.(*corev1.ConfigMap)
		seen[fmt.Sprint(e.Type, m.Name)] = true
		if m.ResourceVersion <= b.ResourceVersion && len(m.ResourceVersion) <= len(b.ResourceVersion) {
			t.Errorf("%s at %s, after %s", m.Name, m.ResourceVersion, b.ResourceVersion)
		}
	}
	if !seen["ADDEDa"] || !seen["DELETEDb"] {
		t.Errorf("seen %v", seen)
	}
	if is, err := maps.Get(ctx, "a", metav1.GetOptions{}); err != nil || is.UID != was.UID || is.Data["value"] != "1" {
		t.Errorf("%v, %v", is, err)
	}
	if ns, err := clients.CoreV1().Namespaces().Get(ctx, "harbour", metav1.GetOptions{}); err != nil || ns.DeletionTimestamp != nil {
		t.Errorf("%v, %v", ns, err)
	}
	if got := fleet(t, c, "riga"); len(got) != 1 {
		t.Errorf("ships %v", got)
	}
}

// TestRestoreUnderControllers: what controllers and nodes made after a snapshot goes, and what they had made comes back and works.
func TestRestoreUnderControllers(t *testing.T) {
	t.Parallel()
	c, clients := start(t, cluster.Options{Nodes: 1})
	ctx := t.Context()
	deployments := clients.AppsV1().Deployments("default")
	available := func(name string) {
		t.Helper()
		eventually(t, name+" is available", func(ctx context.Context) (bool, string) {
			d, err := deployments.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			return d.Status.AvailableReplicas == 2, d.Status.String()
		})
	}
	eventually(t, "default service account", func(ctx context.Context) (bool, string) {
		_, err := clients.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, "missing"
	})
	if _, err := deployments.Create(ctx, deployment("before", 2, "nginx:1.27"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	available("before")
	snapshot, err := c.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	known := informers.NewSharedInformerFactory(clients, 0)
	lister := known.Core().V1().Pods().Lister()
	known.Core().V1().Pods().Informer()
	known.Start(ctx.Done())
	known.WaitForCacheSync(ctx.Done())
	if err := deployments.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := deployments.Create(ctx, deployment("after", 2, "nginx:1.27"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	available("after")
	if err := c.Restore(ctx, snapshot); err != nil {
		t.Fatal(err)
	}
	available("before")
	eventually(t, "only the pods of before are there, and run", func(ctx context.Context) (bool, string) {
		pods, err := clients.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		running, all := 0, ""
		for _, p := range pods.Items {
			all += fmt.Sprintf("%s %s %s; ", p.Name, p.Labels["app"], p.Status.Phase)
			if p.Labels["app"] == "before" && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				running++
			}
		}
		return running == 2 && len(pods.Items) == 2, all
	})
	eventually(t, "the informer knows", func(context.Context) (bool, string) {
		pods, err := lister.Pods("default").List(labels.Everything())
		if err != nil {
			return false, err.Error()
		}
		for _, p := range pods {
			if p.Labels["app"] != "before" {
				return false, p.Name
			}
		}
		return len(pods) == 2, fmt.Sprint(len(pods))
	})
}
