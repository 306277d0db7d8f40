package patch

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// pendingPod is a pod as a kubelet finds it, with what a Deployment's template usually says.
func pendingPod() *corev1.Pod {
	at := metav1.NewTime(time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC).Local())
	yes, seconds := true, int64(300)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-5d9c7b6f4-x2v8k", GenerateName: "web-5d9c7b6f4-", Namespace: "default", UID: "6c1f0f5e-3b0a-4c55-9f2e-0c5f4f7f1f11", ResourceVersion: "4711",
			CreationTimestamp: at, Labels: map[string]string{"app": "web", "pod-template-hash": "5d9c7b6f4"}, Annotations: map[string]string{"note": "a"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d9c7b6f4", UID: "11c1f0f5-3b0a-4c55-9f2e-0c5f4f7f1f11", Controller: &yes, BlockOwnerDeletion: &yes}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:containers":{}}}`)}},
			},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyAlways, NodeName: "node-1", ServiceAccountName: "default", SchedulerName: "default-scheduler", TerminationGracePeriodSeconds: &seconds,
			Volumes: []corev1.Volume{{Name: "token", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			Containers: []corev1.Container{{
				Name: "web", Image: "nginx:1.29", Ports: []corev1.ContainerPort{{ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
				Env:          []corev1.EnvVar{{Name: "A", Value: "b"}},
				Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")}},
				VolumeMounts: []corev1.VolumeMount{{Name: "token", MountPath: "/var/run/token", ReadOnly: true}},
			}},
			Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: &seconds}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable,
			Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: "True", LastTransitionTime: at, ObservedGeneration: 1}},
		},
	}
}

// running makes of a pending pod what a kubelet makes of it when its container has started.
func running(pod *corev1.Pod) *corev1.Pod {
	at := metav1.NewTime(time.Date(2026, 5, 4, 3, 2, 9, 0, time.UTC))
	yes := true
	condition := func(kind corev1.PodConditionType) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: "True", LastTransitionTime: at, ObservedGeneration: 1}
	}
	pod = pod.DeepCopy()
	status := &pod.Status
	status.Phase, status.ObservedGeneration, status.StartTime = corev1.PodRunning, 1, &at
	status.HostIP, status.HostIPs = "10.0.0.1", []corev1.HostIP{{IP: "10.0.0.1"}}
	status.PodIP, status.PodIPs = "10.244.0.7", []corev1.PodIP{{IP: "10.244.0.7"}}
	status.Conditions = append([]corev1.PodCondition{
		condition(corev1.PodReadyToStartContainers), condition(corev1.PodInitialized), condition(corev1.PodReady), condition(corev1.ContainersReady),
	}, status.Conditions...)
	status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "web", Image: "docker.io/library/nginx:1.29", Ready: true, Started: &yes, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
		ImageID:            "docker.io/library/nginx@sha256:0123456789012345678901234567890123456789012345678901234567890123",
		ContainerID:        "containerd://0123456789012345678901234567890123456789012345678901234567890123",
		AllocatedResources: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
		Resources:          &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")}},
		VolumeMounts:       []corev1.VolumeMountStatus{{Name: "token", MountPath: "/var/run/token", ReadOnly: true}},
	}}
	return pod
}

// twoWay is the strategic merge patch that client-go's callers make between two objects.
func twoWay(before, after runtime.Object) ([]byte, error) {
	from, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(from, to, before)
}

func difference(tb testing.TB, before, after runtime.Object) []byte {
	tb.Helper()
	body, err := twoWay(before, after)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func BenchmarkStrategicPodStatus(b *testing.B) {
	pod := pendingPod()
	after := running(pod)
	pod.UID = ""
	body := difference(b, pod, after) // with metadata.uid, as a kubelet's
	pod.UID = after.UID
	p := &Patch{Type: types.StrategicMergePatchType, Body: body, Directive: metav1.FieldValidationWarn, Warn: func([]error) {}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Apply(pod, pods); err != nil {
			b.Fatal(err)
		}
	}
}
