package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

// simulatedPod is a pod of one container with annotations that say how it behaves.
func simulatedPod(name string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/nothing:1"}}},
	}
}

// runPod creates a pod and waits until it is as wanted.
func runPod(t *testing.T, clients kubernetes.Interface, pod *corev1.Pod, wanted func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	// The account that pods run as comes by and by.
	eventually(t, "pod "+pod.Name+" is created", func(ctx context.Context) (bool, string) {
		_, err := clients.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err), fmt.Sprint(err)
	})
	var last *corev1.Pod
	eventually(t, "pod "+pod.Name+" is as wanted", func(ctx context.Context) (bool, string) {
		current, err := clients.CoreV1().Pods("default").Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		last = current
		return wanted(current), fmt.Sprintf("%s %+v", current.Status.Phase, current.Status.ContainerStatuses)
	})
	return last
}

func isRunning(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning }

func TestNodesAreLikeTheirTemplate(t *testing.T) {
	t.Parallel()
	c, clients := start(t, cluster.Options{Nodes: 5, NodeTemplate: cluster.NodeTemplate{
		Capacity: corev1.ResourceList{"example.com/gpu": resource.MustParse("4")},
		Labels:   map[string]string{"pool": "test"}, Region: "here", Zones: []string{"a", "b"},
		Taints: []corev1.Taint{{Key: "dedicated", Value: "test", Effect: corev1.TaintEffectPreferNoSchedule}},
	}})
	nodes := func(ctx context.Context) []corev1.Node {
		list, err := clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "pool=test"})
		if err != nil {
			t.Error(err)
			return nil
		}
		return list.Items
	}
	eventually(t, "five nodes", func(ctx context.Context) (bool, string) {
		list := nodes(ctx)
		return len(list) == 5, fmt.Sprint(len(list))
	})
	zones, addresses := map[string]int{}, map[string]bool{}
	for _, n := range nodes(t.Context()) {
		zones[n.Labels[corev1.LabelTopologyZone]]++
		addresses[n.Status.Addresses[0].Address] = true
		gpu := n.Status.Allocatable["example.com/gpu"]
		if gpu.Value() != 4 || n.Labels[corev1.LabelTopologyRegion] != "here" || n.Spec.PodCIDR == "" {
			t.Errorf("node %s: %v, %v, %q", n.Name, n.Status.Allocatable, n.Labels, n.Spec.PodCIDR)
		}
		if n.Spec.Taints[0].Key != "dedicated" {
			t.Errorf("node %s: taints %v", n.Name, n.Spec.Taints)
		}
	}
	if zones["a"] != 3 || zones["b"] != 2 || len(addresses) != 5 {
		t.Errorf("zones %v, addresses %v", zones, addresses)
	}
	if err := c.ScaleNodes(2); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two nodes are left", func(ctx context.Context) (bool, string) {
		list := nodes(ctx)
		return len(list) == 2, fmt.Sprint(len(list))
	})
}

// TestStatusesAreTheKubelets: what a kubelet writes is managed by it, under upstream's name.
func TestStatusesAreTheKubelets(t *testing.T) {
	t.Parallel()
	_, clients := start(t, cluster.Options{Nodes: 1})
	pod := runPod(t, clients, simulatedPod("p", nil), isRunning)
	node, err := clients.CoreV1().Nodes().Get(t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// A node is made with its first status, by the kubelet itself.
	if !slices.ContainsFunc(node.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "kubelet" }) {
		t.Errorf("the node is managed by %+v", node.ManagedFields)
	}
	if !slices.ContainsFunc(pod.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "kubelet" && e.Subresource == "status" }) {
		t.Errorf("the pod's status is managed by %+v", pod.ManagedFields)
	}
}

func TestSimulatedPodsAnswer(t *testing.T) {
	t.Parallel()
	c, clients := start(t, cluster.Options{Nodes: 2})
	pod := runPod(t, clients, simulatedPod("talker", map[string]string{
		simulated.AnnotationLog: "hello\nworld\n", simulated.AnnotationUsageCPU: "250m", simulated.AnnotationUsageMemory: "64Mi",
	}), isRunning)
	log, err := clients.CoreV1().Pods("default").GetLogs("talker", &corev1.PodLogOptions{TailLines: ptr.To[int64](1)}).DoRaw(t.Context())
	if err != nil || string(log) != "world\n" {
		t.Errorf("log %q, %v", log, err)
	}
	if got := execute(t, c.RESTConfig(), clients, "talker", "hostname"); got != "talker\n" {
		t.Errorf("hostname says %q", got)
	}
	stats, err := clients.CoreV1().RESTClient().Get().AbsPath("/api/v1/nodes/" + pod.Spec.NodeName + "/proxy/stats/summary").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var summary statsapi.Summary
	if err := json.Unmarshal(stats, &summary); err != nil {
		t.Fatal(err)
	}
	if len(summary.Pods) != 1 || *summary.Pods[0].CPU.UsageNanoCores != 250_000_000 || *summary.Pods[0].Memory.WorkingSetBytes != 64<<20 {
		t.Errorf("stats %s", stats)
	}
}

// state is the state of a pod's only container.
func state(pod *corev1.Pod) corev1.ContainerState {
	if len(pod.Status.ContainerStatuses) == 0 {
		return corev1.ContainerState{}
	}
	return pod.Status.ContainerStatuses[0].State
}

func waits(pod *corev1.Pod, reasons ...string) bool {
	waiting := state(pod).Waiting
	return waiting != nil && slices.Contains(reasons, waiting.Reason)
}

func lastEnd(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if len(pod.Status.ContainerStatuses) == 0 {
		return nil
	}
	return pod.Status.ContainerStatuses[0].LastTerminationState.Terminated
}

func TestPodsBehaveAsAnnotated(t *testing.T) {
	t.Parallel()
	_, clients := start(t, cluster.Options{Nodes: 1, PodRules: []cluster.PodRule{
		{Selector: labels.SelectorFromSet(labels.Set{"rule": "ends"}), Annotations: map[string]string{simulated.AnnotationExitAfter: "0s", simulated.AnnotationExitCode: "3"}},
	}})
	probed := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	}
	once := func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever }
	for name, c := range map[string]struct {
		annotations map[string]string
		change      func(*corev1.Pod)
		first       func(*corev1.Pod) bool // seen before then; nil for none
		then        func(*corev1.Pod) bool
	}{
		"start-delay": {map[string]string{simulated.AnnotationStartDelay: "3s"}, nil,
			func(p *corev1.Pod) bool { return waits(p, "ContainerCreating") }, isRunning},
		"pull-fails": {map[string]string{simulated.AnnotationImagePull: "fail"}, nil, nil,
			func(p *corev1.Pod) bool { return waits(p, "ErrImagePull", "ImagePullBackOff") }},
		"pull-slow": {map[string]string{simulated.AnnotationImagePull: "3s"}, nil,
			func(p *corev1.Pod) bool { return waits(p, "ContainerCreating") }, isRunning},
		"ready-after": {map[string]string{simulated.AnnotationReadyAfter: "3s"}, probed,
			func(p *corev1.Pod) bool { return isRunning(p) && !p.Status.ContainerStatuses[0].Ready },
			func(p *corev1.Pod) bool { return isRunning(p) && p.Status.ContainerStatuses[0].Ready }},
		"exits": {map[string]string{simulated.AnnotationExitAfter: "2s", simulated.AnnotationMessage: "bye"}, once, isRunning,
			func(p *corev1.Pod) bool {
				return p.Status.Phase == corev1.PodSucceeded && state(p).Terminated.Message == "bye"
			}},
		"fails": {map[string]string{simulated.AnnotationExitAfter: "0s", simulated.AnnotationExitCode + ".main": "4"}, once, nil,
			func(p *corev1.Pod) bool {
				return p.Status.Phase == corev1.PodFailed && state(p).Terminated.ExitCode == 4
			}},
		"crash-loop": {map[string]string{simulated.AnnotationCrashLoop: "50ms"}, nil, nil,
			func(p *corev1.Pod) bool {
				return waits(p, "CrashLoopBackOff") && lastEnd(p) != nil && lastEnd(p).ExitCode == 1
			}},
		"oom-after": {map[string]string{simulated.AnnotationOOMAfter: "50ms"}, nil, nil,
			func(p *corev1.Pod) bool {
				return lastEnd(p) != nil && lastEnd(p).Reason == "OOMKilled" && lastEnd(p).ExitCode == 137
			}},
		"by-rule": {nil, func(p *corev1.Pod) { once(p); p.Labels = map[string]string{"rule": "ends"} }, nil,
			func(p *corev1.Pod) bool {
				return p.Status.Phase == corev1.PodFailed && state(p).Terminated.ExitCode == 3
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := simulatedPod(name, c.annotations)
			pod.Spec.Containers[0].Image = "example.com/" + name + ":1" // one that no other pod has pulled
			if c.change != nil {
				c.change(pod)
			}
			if c.first != nil {
				runPod(t, clients, pod, c.first)
			}
			runPod(t, clients, pod, c.then)
		})
	}
}

// execute runs a command in a pod, as kubectl does, and returns what it says.
func execute(t *testing.T, config *rest.Config, clients kubernetes.Interface, pod string, command ...string) string {
	t.Helper()
	url := clients.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if err := executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdout: &stdout, Stderr: &stderr}); err != nil {
		t.Errorf("exec %v: %v (%s)", command, err, stderr.String())
	}
	return stdout.String()
}

func TestPodsFollowANodesNewLabels(t *testing.T) {
	t.Parallel()
	_, clients := start(t, cluster.Options{Nodes: 1})
	runPod(t, clients, simulatedPod("first", nil), isRunning) // the kubelet knows its node
	for _, color := range []string{"blue", "green"} {
		patch := []byte(`{"metadata":{"labels":{"color":"` + color + `"}}}`)
		if _, err := clients.CoreV1().Nodes().Patch(t.Context(), "node-0", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		pod := simulatedPod(color, nil)
		pod.Spec.NodeSelector = map[string]string{"color": color}
		if got := runPod(t, clients, pod, func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodPending }); !isRunning(got) {
			t.Errorf("pod %s: %s %s", color, got.Status.Phase, got.Status.Message)
		}
	}
}
