package controllers_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
)

// patience is how long anything may take before a test gives up.
const patience = 60 * time.Second

// TestBehaviour runs every scenario in a namespace of its own, in one cluster.
func TestBehaviour(t *testing.T) {
	t.Parallel()
	runScenarios(t, 2, map[string]func(*world){
		"rollout":            rollout,
		"undo":               undo,
		"recreate":           recreate,
		"pause":              pause,
		"history":            history,
		"replaced pods":      replacedPods,
		"adoption":           adoption,
		"collect background": collectBackground,
		"collect foreground": collectForeground,
		"collect orphan":     collectOrphan,
		"collect absent":     collectAbsent,
		"namespace":          namespaceDeletion,
		"new namespace":      newNamespace,
		"endpoints":          endpointsOfAService,
		"nodes":              nodes,
	})
}

// runScenarios runs each scenario in a namespace of its own, all in one cluster with so many nodes.
func runScenarios(t *testing.T, nodes int, scenarios map[string]func(*world)) {
	t.Helper()
	c, err := cluster.Start(t.Context(), cluster.Options{Nodes: nodes, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, client: client, ns: strings.ReplaceAll(name, " ", "-")}
			w.must(client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}, metav1.CreateOptions{}))
			scenario(w)
		})
	}
}

// world is a namespace with the means to act in it.
type world struct {
	*testing.T
	client kubernetes.Interface
	ns     string
}

func (w *world) must(_ any, err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) do(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// eventually asks until the answer is empty; the answer says what is still amiss.
func (w *world) eventually(amiss func(ctx context.Context) string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for answer := ""; ; {
		now := amiss(ctx)
		if now == "" {
			return
		}
		if ctx.Err() == nil || answer == "" { // what is asked when time is up says only that it is
			answer = now
		}
		select {
		case <-ctx.Done():
			w.Fatalf("for too long: %s", answer)
		case <-tick.C:
		}
	}
}

func (w *world) deployment(name string, replicas int32, change func(*appsv1.Deployment)) {
	w.Helper()
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{TerminationGracePeriodSeconds: ptr.To[int64](1), Containers: []corev1.Container{{Name: "c", Image: "app:1", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}}}}},
	}}
	if change != nil {
		change(d)
	}
	w.must(w.client.AppsV1().Deployments(w.ns).Create(w.Context(), d, metav1.CreateOptions{}))
}

func (w *world) patch(name, body string) {
	w.Helper()
	w.must(w.client.AppsV1().Deployments(w.ns).Patch(w.Context(), name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{}))
}

func (w *world) setImage(name, image string) {
	w.Helper()
	w.patch(name, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":%q}]}}}}`, image))
}

func (w *world) get(name string) *appsv1.Deployment {
	w.Helper()
	d, err := w.client.AppsV1().Deployments(w.ns).Get(w.Context(), name, metav1.GetOptions{})
	w.do(err)
	return d
}

// rolledOut waits as kubectl rollout status does, until image runs everywhere.
func (w *world) rolledOut(name, image string) {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		d, err := w.client.AppsV1().Deployments(w.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		want, s := *d.Spec.Replicas, d.Status
		if d.Generation > s.ObservedGeneration || s.UpdatedReplicas != want || s.Replicas != want || s.AvailableReplicas != want {
			return fmt.Sprintf("status %+v", s)
		}
		if got := d.Spec.Template.Spec.Containers[0].Image; got != image {
			return "image " + got
		}
		return ""
	})
}

func (w *world) sets() []appsv1.ReplicaSet {
	w.Helper()
	list, err := w.client.AppsV1().ReplicaSets(w.ns).List(w.Context(), metav1.ListOptions{})
	w.do(err)
	slices.SortFunc(list.Items, func(a, b appsv1.ReplicaSet) int {
		return strings.Compare(a.Annotations["deployment.kubernetes.io/revision"], b.Annotations["deployment.kubernetes.io/revision"])
	})
	return list.Items
}

func (w *world) pods(ctx context.Context) []corev1.Pod {
	list, err := w.client.CoreV1().Pods(w.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	return list.Items
}

func rollout(w *world) {
	w.deployment("web", 4, nil)
	w.rolledOut("web", "app:1")
	w.setImage("web", "app:2")
	w.rolledOut("web", "app:2")
	if d := w.get("web"); d.Annotations["deployment.kubernetes.io/revision"] != "2" {
		w.Errorf("revision is %q", d.Annotations["deployment.kubernetes.io/revision"])
	}
	want := map[string]bool{}
	for _, rs := range w.sets() {
		want["Scaled up replica set "+rs.Name+" from 0 to"] = false
	}
	w.eventually(func(ctx context.Context) string {
		events, err := w.client.CoreV1().Events(w.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, event := range events.Items {
			for start := range want {
				if event.Reason == "ScalingReplicaSet" && event.Source.Component == "deployment-controller" && strings.HasPrefix(event.Message, start) {
					want[start] = true
				}
			}
		}
		for start, seen := range want {
			if !seen {
				return "no event " + start
			}
		}
		return ""
	})
}

// undo is what kubectl rollout undo does: the old template again.
func undo(w *world) {
	w.deployment("web", 2, nil)
	w.rolledOut("web", "app:1")
	w.setImage("web", "app:2")
	w.rolledOut("web", "app:2")
	w.setImage("web", "app:1")
	w.rolledOut("web", "app:1")
	sets := w.sets()
	if len(sets) != 2 {
		w.Fatalf("%d replica sets", len(sets))
	}
	if got := sets[1]; got.Annotations["deployment.kubernetes.io/revision"] != "3" || got.Annotations["deployment.kubernetes.io/revision-history"] != "1" || *got.Spec.Replicas != 2 {
		w.Errorf("the reused set: annotations %v, replicas %d", got.Annotations, *got.Spec.Replicas)
	}
}

func recreate(w *world) {
	w.deployment("web", 2, func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	})
	w.rolledOut("web", "app:1")
	watch, err := w.client.CoreV1().Pods(w.ns).Watch(w.Context(), metav1.ListOptions{})
	w.do(err)
	defer watch.Stop()
	w.setImage("web", "app:2")
	w.rolledOut("web", "app:2")
	running := map[string]string{}
	for len(running) < 2 || slices.Contains(slices.Collect(maps.Values(running)), "app:1") {
		event := <-watch.ResultChan()
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			w.Fatalf("the watch delivered %v", event)
		}
		if event.Type == "DELETED" {
			delete(running, pod.Name)
			continue
		}
		running[pod.Name] = pod.Spec.Containers[0].Image
		images := slices.Collect(maps.Values(running))
		if slices.Contains(images, "app:1") && slices.Contains(images, "app:2") {
			w.Fatalf("old and new at the same time: %v", running)
		}
	}
}

func pause(w *world) {
	w.deployment("web", 1, nil)
	w.rolledOut("web", "app:1")
	w.patch("web", `{"spec":{"paused":true}}`)
	w.setImage("web", "app:2")
	w.patch("web", `{"spec":{"replicas":3}}`)
	w.eventually(func(context.Context) string {
		d := w.get("web")
		if d.Status.AvailableReplicas != 3 || d.Status.UpdatedReplicas != 0 {
			return fmt.Sprintf("paused and resized: %+v", d.Status)
		}
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentProgressing && c.Reason == "DeploymentPaused" {
				return ""
			}
		}
		return "it doesn't say that it is paused"
	})
	w.patch("web", `{"spec":{"paused":false}}`)
	w.rolledOut("web", "app:2")
}

func history(w *world) {
	w.deployment("web", 1, func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = ptr.To[int32](1) })
	for i := 1; i <= 4; i++ {
		image := fmt.Sprintf("app:%d", i)
		w.setImage("web", image)
		w.rolledOut("web", image)
	}
	w.eventually(func(context.Context) string {
		if sets := w.sets(); len(sets) != 2 || sets[0].Annotations["deployment.kubernetes.io/revision"] != "3" {
			return fmt.Sprintf("%d replica sets", len(sets))
		}
		return ""
	})
}

func replacedPods(w *world) {
	w.deployment("web", 3, nil)
	w.rolledOut("web", "app:1")
	before := w.pods(w.Context())
	for _, pod := range before {
		w.do(w.client.CoreV1().Pods(w.ns).Delete(w.Context(), pod.Name, metav1.DeleteOptions{}))
	}
	w.eventually(func(ctx context.Context) string {
		after := w.pods(ctx)
		if len(after) != 3 {
			return fmt.Sprintf("%d pods", len(after))
		}
		for _, pod := range after {
			if slices.ContainsFunc(before, func(b corev1.Pod) bool { return b.UID == pod.UID }) {
				return "an old pod is left"
			}
		}
		return ""
	})
	w.rolledOut("web", "app:1")
}

// adoption lets a pod go by its label and has it taken back.
func adoption(w *world) {
	w.deployment("web", 1, nil)
	w.rolledOut("web", "app:1")
	first := w.pods(w.Context())[0]
	label := func(value string) {
		w.must(w.client.CoreV1().Pods(w.ns).Patch(w.Context(), first.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"`+value+`"}}}`), metav1.PatchOptions{}))
	}
	label("debug")
	w.eventually(func(ctx context.Context) string {
		pods := w.pods(ctx)
		for _, pod := range pods {
			if pod.Name == first.Name && len(pod.OwnerReferences) == 0 && len(pods) == 2 {
				return ""
			}
		}
		return fmt.Sprintf("%d pods, and the relabelled one isn't let go", len(pods))
	})
	label("web")
	w.eventually(func(ctx context.Context) string {
		if pods := w.pods(ctx); len(pods) != 1 || len(pods[0].OwnerReferences) != 1 {
			return fmt.Sprintf("%d pods", len(pods))
		}
		return ""
	})
}

// gone waits until nothing of the Deployment is left.
func (w *world) gone() {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		sets, err := w.client.AppsV1().ReplicaSets(w.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		if pods := w.pods(ctx); len(sets.Items)+len(pods) > 0 {
			return fmt.Sprintf("%d sets and %d pods are left", len(sets.Items), len(pods))
		}
		_, err = w.client.AppsV1().Deployments(w.ns).Get(ctx, "web", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return "the deployment is left"
		}
		return ""
	})
}

func (w *world) deleteDeployment(how metav1.DeletionPropagation) {
	w.Helper()
	w.do(w.client.AppsV1().Deployments(w.ns).Delete(w.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &how}))
}

func collectBackground(w *world) {
	w.deployment("web", 2, nil)
	w.rolledOut("web", "app:1")
	w.deleteDeployment(metav1.DeletePropagationBackground)
	w.gone()
}

func collectForeground(w *world) {
	w.deployment("web", 2, nil)
	w.rolledOut("web", "app:1")
	watch, err := w.client.AppsV1().Deployments(w.ns).Watch(w.Context(), metav1.ListOptions{})
	w.do(err)
	defer watch.Stop()
	w.deleteDeployment(metav1.DeletePropagationForeground)
	for event := range watch.ResultChan() {
		if event.Type == "DELETED" {
			break
		}
	}
	if sets := w.sets(); len(sets) > 0 {
		w.Errorf("the owner went before %d replica sets", len(sets))
	}
	w.gone()
}

func collectOrphan(w *world) {
	w.deployment("web", 2, nil)
	w.rolledOut("web", "app:1")
	w.deleteDeployment(metav1.DeletePropagationOrphan)
	w.eventually(func(ctx context.Context) string {
		_, err := w.client.AppsV1().Deployments(w.ns).Get(ctx, "web", metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return "the deployment is left"
		}
		return ""
	})
	if sets := w.sets(); len(sets) != 1 || len(sets[0].OwnerReferences) != 0 || len(w.pods(w.Context())) != 2 {
		w.Errorf("%d sets and %d pods are left", len(sets), len(w.pods(w.Context())))
	}
	// Another Deployment of the same selector and template adopts the set.
	w.deployment("web", 2, nil)
	w.rolledOut("web", "app:1")
	if sets := w.sets(); len(sets) != 1 || len(sets[0].OwnerReferences) != 1 {
		w.Errorf("%d sets after adoption", len(sets))
	}
}

func collectAbsent(w *world) {
	configMaps := w.client.CoreV1().ConfigMaps(w.ns)
	owner, err := configMaps.Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	w.do(err)
	make := func(name string, references ...metav1.OwnerReference) {
		w.must(configMaps.Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: references}}, metav1.CreateOptions{}))
	}
	real := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID}
	absent := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "absent", UID: "00000000-0000-0000-0000-000000000001"}
	stale := real
	stale.UID = "00000000-0000-0000-0000-000000000002"
	make("kept", real)
	make("kept-too", real, absent)
	make("of-nobody", absent)
	make("of-a-predecessor", stale)
	w.eventually(func(ctx context.Context) string {
		list, err := configMaps.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, c := range list.Items {
			names = append(names, fmt.Sprintf("%s(%d)", c.Name, len(c.OwnerReferences)))
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != "kept(1) kept-too(1) kube-root-ca.crt(0) owner(0)" {
			return "there are " + got
		}
		return ""
	})
}

func namespaceDeletion(w *world) {
	w.deployment("web", 2, nil)
	w.rolledOut("web", "app:1")
	w.must(w.client.CoreV1().ConfigMaps(w.ns).Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/held"}}}, metav1.CreateOptions{}))
	w.do(w.client.CoreV1().Namespaces().Delete(w.Context(), w.ns, metav1.DeleteOptions{}))
	w.eventually(func(ctx context.Context) string {
		ns, err := w.client.CoreV1().Namespaces().Get(ctx, w.ns, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		for _, c := range ns.Status.Conditions {
			if c.Type == corev1.NamespaceFinalizersRemaining && c.Message == "Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances" {
				return ""
			}
		}
		return fmt.Sprintf("conditions %v", ns.Status.Conditions)
	})
	w.must(w.client.CoreV1().ConfigMaps(w.ns).Patch(w.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	w.eventually(func(ctx context.Context) string {
		_, err := w.client.CoreV1().Namespaces().Get(ctx, w.ns, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return "the namespace is left"
		}
		return ""
	})
}

func newNamespace(w *world) {
	w.eventually(func(ctx context.Context) string {
		if _, err := w.client.CoreV1().ServiceAccounts(w.ns).Get(ctx, "default", metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		ca, err := w.client.CoreV1().ConfigMaps(w.ns).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(ca.Data["ca.crt"], "BEGIN CERTIFICATE") {
			return "no certificate"
		}
		return ""
	})
}

func endpointsOfAService(w *world) {
	w.must(w.client.CoreV1().Services(w.ns).Create(w.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"},
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}}},
	}, metav1.CreateOptions{}))
	w.deployment("web", 3, nil)
	w.rolledOut("web", "app:1")
	want := func(count int) func(ctx context.Context) string {
		return func(ctx context.Context) string {
			slices, err := w.client.DiscoveryV1().EndpointSlices(w.ns).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=web"})
			if err != nil {
				return err.Error()
			}
			if len(slices.Items) != 1 || len(slices.Items[0].Endpoints) != count {
				return fmt.Sprintf("slices %v", slices.Items)
			}
			for _, e := range slices.Items[0].Endpoints {
				if !*e.Conditions.Ready || e.NodeName == nil || *slices.Items[0].Ports[0].Port != 80 {
					return fmt.Sprintf("endpoint %v", e)
				}
			}
			old, err := w.client.CoreV1().Endpoints(w.ns).Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			if count == 0 && len(old.Subsets) == 0 {
				return ""
			}
			if len(old.Subsets) != 1 || len(old.Subsets[0].Addresses) != count {
				return fmt.Sprintf("endpoints %v", old.Subsets)
			}
			return ""
		}
	}
	w.eventually(want(3))
	w.patch("web", `{"spec":{"replicas":0}}`)
	w.eventually(want(0))
	w.do(w.client.CoreV1().Services(w.ns).Delete(w.Context(), "web", metav1.DeleteOptions{}))
	w.eventually(func(ctx context.Context) string {
		slices, err := w.client.DiscoveryV1().EndpointSlices(w.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		_, err = w.client.CoreV1().Endpoints(w.ns).Get(ctx, "web", metav1.GetOptions{})
		if len(slices.Items) > 0 || !apierrors.IsNotFound(err) {
			return "something of the service is left"
		}
		return ""
	})
}

func nodes(w *world) {
	w.eventually(func(ctx context.Context) string {
		list, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		taken := map[string]bool{}
		for _, node := range list.Items {
			taken[node.Spec.PodCIDR] = true
			if node.Spec.PodCIDR == "" || len(node.Spec.Taints) > 0 {
				return fmt.Sprintf("node %s has CIDR %q and taints %v", node.Name, node.Spec.PodCIDR, node.Spec.Taints)
			}
		}
		if len(taken) != 2 {
			return fmt.Sprintf("CIDRs are %v", taken)
		}
		return ""
	})
}
