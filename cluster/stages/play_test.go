package stages_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/cluster/faults"
	"github.com/kogge-dev/kogge/cluster/fleet"
	"github.com/kogge-dev/kogge/cluster/stages"
)

// theatre is a cluster whose objects live as files say, with the clock that the test moves.
type theatre struct {
	*cluster.Cluster
	clock   *cluster.Clock
	clients kubernetes.Interface
	objects dynamic.Interface
}

func open(t *testing.T, nodes int, files ...string) theatre {
	t.Helper()
	all, err := stages.Load(files...)
	if err != nil {
		t.Fatal(err)
	}
	h := theatre{clock: cluster.NewClock(time.Time{})}
	h.Cluster = cluster.ForTest(t, cluster.Options{Nodes: nodes, Stages: all, Clock: h.clock})
	if h.clients, err = kubernetes.NewForConfig(h.InProcessConfig()); err != nil {
		t.Fatal(err)
	}
	if h.objects, err = dynamic.NewForConfig(h.InProcessConfig()); err != nil {
		t.Fatal(err)
	}
	return h
}

// in names a moment: however late a stage is chosen, it comes then.
func (h theatre) in(d time.Duration) string { return h.clock.Now().Add(d).Format(time.RFC3339) }

// await waits until an object is as wanted; nil stands for one that is gone.
func (h theatre) await(t *testing.T, resource schema.GroupVersionResource, namespace, name string, wanted func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	objects := h.objects.Resource(resource).Namespace(namespace)
	var last *unstructured.Unstructured
	for {
		w, err := objects.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()})
		if err != nil {
			t.Fatal(err)
		}
		// Of one that is gone already, the watch says nothing.
		if _, err := objects.Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) && wanted(nil) {
			w.Stop()
			return last
		}
		for e := range w.ResultChan() {
			last, _ = e.Object.(*unstructured.Unstructured)
			there := last
			if e.Type == watch.Deleted {
				there = nil
			}
			if wanted(there) {
				w.Stop()
				return last
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("%s %s/%s is not as wanted: %v", resource.Resource, namespace, name, last)
		}
	}
}

var (
	pods  = corev1.SchemeGroupVersion.WithResource("pods")
	nodes = corev1.SchemeGroupVersion.WithResource("nodes")
	jobs  = batchv1.SchemeGroupVersion.WithResource("jobs")
	shows = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "shows"}
)

func at(o *unstructured.Unstructured, names ...string) any {
	if o == nil {
		return nil
	}
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, names...)
	return value
}

func phase(want string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool { return at(o, "status", "phase") == want }
}

func gone(o *unstructured.Unstructured) bool { return o == nil }

// status is the status of a condition.
func status(o *unstructured.Unstructured, kind string) any {
	list, _ := at(o, "status", "conditions").([]any)
	for _, c := range list {
		if c, ok := c.(map[string]any); ok && c["type"] == kind {
			return c["status"]
		}
	}
	return nil
}

func (h theatre) pod(t *testing.T, change func(*corev1.Pod)) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "actor", Namespace: "default"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "example.com/nothing:1"}},
	}}
	change(pod)
	// The account that pods run as comes by and by.
	accounts := corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	h.await(t, accounts, "default", "default", func(o *unstructured.Unstructured) bool { return o != nil })
	if _, err := h.clients.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestPodsStartAndGo(t *testing.T) {
	t.Parallel()
	h := open(t, 1, "testdata/pods.yaml")
	h.pod(t, func(p *corev1.Pod) {
		p.Labels, p.Finalizers = map[string]string{"released-by": "the-play"}, []string{"example.com/guard", "example.com/other"}
	})
	pod := h.await(t, pods, "default", "actor", phase("Running"))
	place, _ := fleet.NodeTemplate{}.Find("node-0")
	address, err := netip.ParseAddr(fmt.Sprint(at(pod, "status", "podIP")))
	if err != nil || !place.PodRange.Contains(address) || at(pod, "status", "hostIP") != place.Address.String() || status(pod, "Ready") != "True" {
		t.Errorf("status %v", at(pod, "status"))
	}
	h.await(t, corev1.SchemeGroupVersion.WithResource("events"), "default", h.event(t, "Started"), func(o *unstructured.Unstructured) bool {
		return at(o, "involvedObject", "name") == "actor" && at(o, "message") == "the play begins"
	})
	if err := h.clients.CoreV1().Pods("default").Delete(t.Context(), "actor", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.await(t, pods, "default", "actor", func(o *unstructured.Unstructured) bool {
		return len(o.GetFinalizers()) == 1 && o.GetFinalizers()[0] == "example.com/other"
	})
	if _, err := h.clients.CoreV1().Pods("default").Patch(t.Context(), "actor", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	h.await(t, pods, "default", "actor", gone)
}

// event waits for an event with this reason and gives its name.
func (h theatre) event(t *testing.T, reason string) string {
	t.Helper()
	w, err := h.clients.CoreV1().Events("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if event, ok := e.Object.(*corev1.Event); ok {
			return event.Name
		}
	}
	t.Fatalf("no event %s", reason)
	return ""
}

func TestJobsEndInTheirTime(t *testing.T) {
	t.Parallel()
	h := open(t, 1, "testdata/pods.yaml")
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "play", Namespace: "default"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"example.com/runs-for": h.in(8 * time.Hour)}},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "example.com/nothing:1"}}},
	}}}
	if _, err := h.clients.BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	h.await(t, jobs, "default", "play", func(o *unstructured.Unstructured) bool { return at(o, "status", "ready") == int64(1) })
	h.clock.Step(7 * time.Hour)
	if o := h.await(t, jobs, "default", "play", func(o *unstructured.Unstructured) bool { return o != nil }); status(o, "Complete") != nil {
		t.Error("the Job ended before its time")
	}
	h.clock.Step(2 * time.Hour)
	h.await(t, jobs, "default", "play", func(o *unstructured.Unstructured) bool { return status(o, "Complete") == "True" })
}

func TestPodsCrashByLabel(t *testing.T) {
	t.Parallel()
	h := open(t, 1, "testdata/pods.yaml", "testdata/crash.yaml")
	h.pod(t, func(p *corev1.Pod) {
		p.Labels, p.Annotations = map[string]string{"crashes": "true"}, map[string]string{"example.com/crash-after": h.in(30 * time.Minute)}
	})
	h.await(t, pods, "default", "actor", phase("Running"))
	h.clock.Step(time.Hour)
	var container corev1.ContainerStatus
	h.await(t, pods, "default", "actor", func(o *unstructured.Unstructured) bool {
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod); err != nil {
			t.Fatal(err)
		}
		container = pod.Status.ContainerStatuses[0]
		return container.State.Waiting != nil
	})
	if container.State.Waiting.Reason != "CrashLoopBackOff" || container.RestartCount != 1 || container.State.Running != nil || container.Ready {
		t.Errorf("container %+v", container)
	}
	h.event(t, "BackOff")
}

func TestCustomKinds(t *testing.T) {
	t.Parallel()
	h := open(t, 0, "testdata/shows.yaml") // before there is such a kind
	if err := h.InstallCRDs(t.Context(), "testdata/show-definition.yaml"); err != nil {
		t.Fatal(err)
	}
	show := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Show", "metadata": map[string]any{"name": "hamlet"}, "spec": map[string]any{"seats": int64(120), "until": h.in(10 * time.Minute)},
	}}
	if _, err := h.objects.Resource(shows).Namespace("default").Create(t.Context(), show, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o := h.await(t, shows, "default", "hamlet", phase("Open"))
	if at(o, "status", "free") != int64(120) || o.GetLabels()["open"] != "yes" || len(o.GetFinalizers()) != 1 {
		t.Errorf("%v", o.Object)
	}
	about, err := h.clients.CoreV1().ConfigMaps("default").Get(t.Context(), "hamlet", metav1.GetOptions{})
	if err != nil || about.Data["seats"] != "120" {
		t.Errorf("%v, %v", about.Data, err)
	}
	if err := h.objects.Resource(shows).Namespace("default").Delete(t.Context(), "hamlet", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.await(t, shows, "default", "hamlet", func(o *unstructured.Unstructured) bool { return o.GetDeletionTimestamp() != nil })
	// The player may learn of the deletion after us: hours pass until it has.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			h.clock.Step(time.Hour)
		}
	}()
	h.await(t, shows, "default", "hamlet", gone)
}

func TestNodesHaveMoreConditions(t *testing.T) {
	t.Parallel()
	h := open(t, 1, "testdata/nodes.yaml")
	h.await(t, nodes, "", "node-0", func(o *unstructured.Unstructured) bool { return status(o, "Ready") == "True" })
	if _, err := h.clients.CoreV1().Nodes().Patch(t.Context(), "node-0", types.MergePatchType, []byte(`{"metadata":{"labels":{"overheats":"true"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	hot := func(o *unstructured.Unstructured) bool {
		taints, _ := at(o, "spec", "taints").([]any)
		return status(o, "Hot") == "True" && len(taints) == 1
	}
	h.await(t, nodes, "", "node-0", hot)
	// What a kubelet reports later leaves it.
	h.clock.Step(10 * time.Minute)
	reported := h.clock.Now().Add(-time.Minute)
	h.await(t, nodes, "", "node-0", func(o *unstructured.Unstructured) bool {
		list, _ := at(o, "status", "conditions").([]any)
		for _, c := range list {
			c, _ := c.(map[string]any)
			beat, err := time.Parse(time.RFC3339, fmt.Sprint(c["lastHeartbeatTime"]))
			if c["type"] == "Ready" && err == nil && beat.After(reported) {
				return hot(o)
			}
		}
		return false
	})
}

func TestPodsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := open(t, 1, "testdata/pods.yaml")
	other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	if _, err := h.clients.CoreV1().Nodes().Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	h.pod(t, func(p *corev1.Pod) { p.Name, p.Spec.NodeName = "audience", "other" })
	h.pod(t, func(p *corev1.Pod) {})
	h.await(t, pods, "default", "actor", phase("Running"))
	if o := h.await(t, pods, "default", "audience", func(o *unstructured.Unstructured) bool { return o != nil }); !phase("Pending")(o) {
		t.Errorf("a pod of another node: %v", o.Object["status"])
	}
}

func TestFailuresAreTriedAgain(t *testing.T) {
	t.Parallel()
	h := open(t, 1, "testdata/pods.yaml")
	writes := faults.Match{User: "stages", Verbs: []string{"patch", "delete"}, Resources: []string{"pods", "pods/status"}}
	failing := h.Faults().Add(faults.Fault{Match: writes, Count: 1, Error: faults.Internal()})
	h.pod(t, func(*corev1.Pod) {})
	h.await(t, pods, "default", "actor", phase("Running"))
	if failing.Hits() != 1 {
		t.Errorf("%d requests failed", failing.Hits())
	}
	// An answer that is lost: what was done is found.
	h.Faults().Add(faults.Fault{Match: writes, Count: 1, Drop: true, Late: true})
	if err := h.clients.CoreV1().Pods("default").Delete(t.Context(), "actor", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.await(t, pods, "default", "actor", gone)
}

func TestWrongStagesAreRefused(t *testing.T) {
	t.Parallel()
	_, err := cluster.Start(t.Context(), cluster.Options{Stages: []stages.Stage{{}}})
	if !apierrors.IsInvalid(err) {
		t.Errorf("%v", err)
	}
	if _, err := stages.Load("testdata/absent.yaml"); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
