package quota

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// amounts reads "cpu=1,memory=2Gi".
func amounts(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		if name, amount, ok := strings.Cut(part, "="); ok {
			list[corev1.ResourceName(name)] = resource.MustParse(amount)
		}
	}
	return list
}

func testPod(requests, limits string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c",
		Resources: corev1.ResourceRequirements{Requests: amounts(requests), Limits: amounts(limits)}}}}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func TestUsage(t *testing.T) {
	t.Parallel()
	ended := func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }
	deleted := func(ago time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: testTime.Add(-ago)}, ptr.To[int64](30)
		}
	}
	service := func(kind corev1.ServiceType, allocate *bool) *corev1.Service {
		return &corev1.Service{Spec: corev1.ServiceSpec{Type: kind, AllocateLoadBalancerNodePorts: allocate, Ports: []corev1.ServicePort{{Port: 1}, {Port: 2, NodePort: 30000}}}}
	}
	for name, c := range map[string]struct {
		resource string
		object   runtime.Object
		want     string
	}{
		"pod": {"pods", testPod("cpu=1,memory=1Gi", "cpu=2"),
			"count/pods=1,cpu=1,limits.cpu=2,memory=1Gi,pods=1,requests.cpu=1,requests.memory=1Gi"},
		"extended resources and huge pages": {"pods", testPod("example.com/gpu=2,hugepages-2Mi=4Mi", ""),
			"count/pods=1,hugepages-2Mi=4Mi,pods=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi"},
		"ended pod":   {"pods", testPod("cpu=1", "", ended), "count/pods=1"},
		"leaving pod": {"pods", testPod("", "", deleted(10*time.Second)), "count/pods=1,pods=1"},
		"overdue pod": {"pods", testPod("", "", deleted(time.Minute)), "count/pods=1"},
		"service": {"services", service(corev1.ServiceTypeClusterIP, nil),
			"count/services=1,services=1,services.loadbalancers=0,services.nodeports=0"},
		"node port": {"services", service(corev1.ServiceTypeNodePort, nil),
			"count/services=1,services=1,services.loadbalancers=0,services.nodeports=2"},
		"balancer": {"services", service(corev1.ServiceTypeLoadBalancer, nil),
			"count/services=1,services=1,services.loadbalancers=1,services.nodeports=2"},
		"balancer without node ports": {"services", service(corev1.ServiceTypeLoadBalancer, ptr.To(false)),
			"count/services=1,services=1,services.loadbalancers=1,services.nodeports=1"},
		"claim": {"persistentvolumeclaims", &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("gold"),
			Resources: corev1.VolumeResourceRequirements{Requests: amounts("storage=1Gi")}},
			Status: corev1.PersistentVolumeClaimStatus{AllocatedResources: amounts("storage=2Gi")}},
			"count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/requests.storage=2Gi," +
				"persistentvolumeclaims=1,requests.storage=2Gi"},
		"secret":        {"secrets", &corev1.Secret{}, "count/secrets=1,secrets=1"},
		"custom object": {"crontabs.example.com", &metav1.PartialObjectMetadata{}, "count/crontabs.example.com=1"},
		"device claim": {"resourceclaims.resource.k8s.io", &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
			{Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 3}},
			{FirstAvailable: []resourcev1.DeviceSubRequest{
				{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
				{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2},
				{DeviceClassName: "nic", AllocationMode: resourcev1.DeviceAllocationModeAll}}}}}}},
			"count/resourceclaims.resource.k8s.io=1,gpu.deviceclass.resource.k8s.io/devices=5,nic.deviceclass.resource.k8s.io/devices=32"},
	} {
		if got := Text(For(schema.ParseGroupResource(c.resource)).Usage(c.object, testTime)); got != c.want {
			t.Errorf("%s uses %s", name, got)
		}
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	selector := func(scope corev1.ResourceQuotaScope, operator corev1.ScopeSelectorOperator, values ...string) *corev1.ResourceQuotaSpec {
		return &corev1.ResourceQuotaSpec{ScopeSelector: &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{
			{ScopeName: scope, Operator: operator, Values: values}}}}
	}
	scopes := func(scopes ...corev1.ResourceQuotaScope) *corev1.ResourceQuotaSpec {
		return &corev1.ResourceQuotaSpec{Scopes: scopes}
	}
	high := testPod("cpu=1", "", func(pod *corev1.Pod) { pod.Spec.PriorityClassName = "high" })
	short := testPod("", "", func(pod *corev1.Pod) { pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](1) })
	far := testPod("", "", func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{PodAffinityTerm: corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}}}}}
	})
	silver := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeAttributesClassName: ptr.To("silver")}}
	class, attributes := corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeVolumeAttributesClass
	for name, c := range map[string]struct {
		resource string
		spec     *corev1.ResourceQuotaSpec
		object   runtime.Object
		want     bool
	}{
		"no scopes":            {"pods", scopes(), high, true},
		"both":                 {"pods", scopes(corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeNotBestEffort), high, true},
		"one of two":           {"pods", scopes(corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotBestEffort), short, false},
		"best effort":          {"pods", scopes(corev1.ResourceQuotaScopeBestEffort), short, true},
		"bounded":              {"pods", scopes(corev1.ResourceQuotaScopeTerminating), short, true},
		"any class":            {"pods", scopes(class), high, true},
		"no class":             {"pods", scopes(class), short, false},
		"the class":            {"pods", selector(class, corev1.ScopeSelectorOpIn, "low", "high"), high, true},
		"another class":        {"pods", selector(class, corev1.ScopeSelectorOpNotIn, "high"), high, false},
		"none is not high":     {"pods", selector(class, corev1.ScopeSelectorOpNotIn, "high"), short, true},
		"without class":        {"pods", selector(class, corev1.ScopeSelectorOpDoesNotExist), short, true},
		"across namespaces":    {"pods", scopes(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), far, true},
		"within the namespace": {"pods", scopes(corev1.ResourceQuotaScopeCrossNamespacePodAffinity), high, false},
		"claim of the class":   {"persistentvolumeclaims", selector(attributes, corev1.ScopeSelectorOpIn, "silver"), silver, true},
		"claim in a pod scope": {"persistentvolumeclaims", scopes(corev1.ResourceQuotaScopeTerminating), silver, false},
		"no scope fits":        {"secrets", scopes(corev1.ResourceQuotaScopeTerminating), &corev1.Secret{}, false},
	} {
		if got, err := For(schema.ParseGroupResource(c.resource)).InScope(c.spec, c.object); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestDemand(t *testing.T) {
	t.Parallel()
	names := Names(amounts("cpu=1,limits.memory=1,requests.memory=1,pods=1,requests.example.com/gpu=1"))
	pod := testPod("cpu=1", "", func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "a"}}
	})
	want := "must specify cpu for: a; limits.memory for: a,c; requests.memory for: a,c"
	if err := For(schema.GroupResource{Resource: "pods"}).Demand(names, pod); err == nil || err.Error() != want {
		t.Errorf("demands %v", err)
	}
	pod.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts("cpu=1")}
	if err := For(schema.GroupResource{Resource: "pods"}).Demand(names, pod); err != nil {
		t.Errorf("a pod that speaks for all: %v", err)
	}
}

func TestMeasured(t *testing.T) {
	t.Parallel()
	var got []string
	for _, e := range Measured(Names(amounts("cpu=1,secrets=1,count/jobs.batch=1,count/events=1,requests.storage=1,services.nodeports=1,nonsense=1"))) {
		got = append(got, e.Resource.String())
	}
	if text := strings.Join(got, " "); text != "jobs.batch persistentvolumeclaims pods secrets services" {
		t.Errorf("measures %s", text)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	if got := Text(Increase(amounts("a=3,b=1"), amounts("a=1,b=2,c=4,d=0"))); got != "b=1,c=4" {
		t.Errorf("increase %s", got)
	}
	if !Equal(amounts("a=1"), amounts("a=1000m")) || Equal(amounts("a=1"), amounts("a=1,b=0")) {
		t.Error("equality is by amount")
	}
}
