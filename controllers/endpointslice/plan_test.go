package endpointslice

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func testService() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "ns", UID: "service", Labels: map[string]string{"a": "b"}},
		Spec: corev1.ServiceSpec{
			ClusterIP: "10.96.0.7", IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, Selector: map[string]string{"app": "web"},
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http")}},
		},
	}
}

func testPod(number int, ready bool) corev1.Pod {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	ip := fmt.Sprintf("10.244.%d.%d", number/250, number%250+1)
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%03d", number), Namespace: "ns", UID: types.UID(fmt.Sprint(number))},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}}}}},
		Status: corev1.PodStatus{PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}},
	}
}

func testPods(count int) (pods []corev1.Pod) {
	for i := range count {
		pods = append(pods, testPod(i, true))
	}
	return pods
}

var testNodes = map[string]*corev1.Node{"n": {ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelTopologyZone: "z"}}}}

// apply carries a plan out on slices, naming the new ones.
func apply(present []discoveryv1.EndpointSlice, plan Plan) (next []discoveryv1.EndpointSlice) {
	byName := map[string]discoveryv1.EndpointSlice{}
	for _, slice := range present {
		byName[slice.Name] = slice
	}
	for _, slice := range plan.Update {
		byName[slice.Name] = *slice
	}
	for _, slice := range plan.Delete {
		delete(byName, slice.Name)
	}
	free := 0
	for _, slice := range plan.Create {
		for slice.Name == "" || byName[slice.Name].Name != "" {
			slice.Name = fmt.Sprintf("new-%d", free)
			free++
		}
		byName[slice.Name] = *slice
	}
	for slice := range maps.Values(byName) {
		next = append(next, slice)
	}
	return next
}

func TestOneEndpoint(t *testing.T) {
	t.Parallel()
	plan := Decide(Observed{Service: testService(), Pods: testPods(1), Nodes: testNodes})
	if len(plan.Create) != 1 || len(plan.Update)+len(plan.Delete) != 0 {
		t.Fatalf("plan %+v", plan)
	}
	slice := plan.Create[0]
	want := map[string]string{"a": "b", discoveryv1.LabelServiceName: "web", discoveryv1.LabelManagedBy: managedBy}
	if !maps.Equal(slice.Labels, want) || slice.GenerateName != "web-" || slice.AddressType != discoveryv1.AddressTypeIPv4 {
		t.Errorf("labels %v, name %s, type %s", slice.Labels, slice.GenerateName, slice.AddressType)
	}
	if port := slice.Ports[0]; *port.Name != "http" || *port.Port != 8080 {
		t.Errorf("port %v", port)
	}
	e := slice.Endpoints[0]
	if e.Addresses[0] != "10.244.0.1" || *e.NodeName != "n" || *e.Zone != "z" || e.TargetRef.Name != "p000" ||
		!*e.Conditions.Ready || !*e.Conditions.Serving || *e.Conditions.Terminating {
		t.Errorf("endpoint %+v", e)
	}
}

func TestConditionsOfAnEndpoint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ready, deleted, publish           bool
		wantReady, wantServing, wantGoing bool
	}{
		"ready":                    {true, false, false, true, true, false},
		"not ready":                {false, false, false, false, false, false},
		"ready and being deleted":  {true, true, false, false, true, true},
		"not ready but published":  {false, false, true, true, false, false},
		"being deleted, published": {true, true, true, true, true, true},
		"not ready, being deleted": {false, true, false, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, pod := testService(), testPod(1, c.ready)
			service.Spec.PublishNotReadyAddresses = c.publish
			if c.deleted {
				pod.DeletionTimestamp = ptr.To(metav1.Now())
			}
			got := newEndpoint(service, &pod, testNodes["n"], corev1.IPv4Protocol).Conditions
			if *got.Ready != c.wantReady || *got.Serving != c.wantServing || *got.Terminating != c.wantGoing {
				t.Errorf("ready %v, serving %v, terminating %v", *got.Ready, *got.Serving, *got.Terminating)
			}
		})
	}
}

func TestAsFewSlicesChangeAsCan(t *testing.T) {
	t.Parallel()
	service := testService()
	observed := Observed{Service: service, Pods: testPods(230), Nodes: testNodes}
	plan := Decide(observed)
	if len(plan.Create) != 3 {
		t.Fatalf("%d slices for 230 endpoints", len(plan.Create))
	}
	observed.Slices = apply(nil, plan)
	if plan := Decide(observed); len(plan.Create)+len(plan.Update)+len(plan.Delete) != 0 {
		t.Fatalf("nothing has changed, and %+v", plan)
	}
	observed.Pods = append(testPods(230), testPod(240, true))
	if plan = Decide(observed); len(plan.Create) != 0 || len(plan.Update) != 1 || len(plan.Update[0].Endpoints) != 31 {
		t.Errorf("one more endpoint: %d created, %d updated", len(plan.Create), len(plan.Update))
	}
	observed.Pods = testPods(229)
	if plan = Decide(observed); len(plan.Create) != 0 || len(plan.Update) != 1 || len(plan.Delete) != 0 {
		t.Errorf("one less: %d created, %d updated, %d deleted", len(plan.Create), len(plan.Update), len(plan.Delete))
	}
}

func TestEveryEndpointOnceAndNoMoreThanFit(t *testing.T) {
	t.Parallel()
	observed := Observed{Service: testService(), Nodes: testNodes}
	for _, count := range []int{3, 250, 101, 0, 99, 100, 400, 1} {
		observed.Pods = testPods(count)
		observed.Slices = apply(observed.Slices, Decide(observed))
		seen := map[string]bool{}
		for _, slice := range observed.Slices {
			if len(slice.Endpoints) > maxEndpoints {
				t.Errorf("%d endpoints in one slice", len(slice.Endpoints))
			}
			for i := range slice.Endpoints {
				seen[endpointKey(&slice.Endpoints[i])] = true
			}
		}
		if len(seen) != count || len(observed.Slices) == 0 {
			t.Errorf("%d of %d endpoints in %d slices", len(seen), count, len(observed.Slices))
		}
	}
}

func TestDifferentNumbersForOneName(t *testing.T) {
	t.Parallel()
	pods := testPods(2)
	pods[1].Spec.Containers[0].Ports[0].ContainerPort = 9090
	plan := Decide(Observed{Service: testService(), Pods: pods, Nodes: testNodes})
	if len(plan.Create) != 2 {
		t.Errorf("%d slices for two sets of ports", len(plan.Create))
	}
}

func TestSlicesOfAnEarlierServiceAreNotReused(t *testing.T) {
	t.Parallel()
	service := testService()
	old := newSlice(service, corev1.IPv4Protocol, nil)
	old.Name = "old"
	old.OwnerReferences[0].UID = "earlier"
	plan := Decide(Observed{Service: service, Pods: testPods(1), Nodes: testNodes, Slices: []discoveryv1.EndpointSlice{*old}})
	if len(plan.Create) != 1 || len(plan.Delete) != 1 || len(plan.Update) != 0 {
		t.Errorf("plan %+v", plan)
	}
}

func TestAPodOnAnUnknownNodeWaits(t *testing.T) {
	t.Parallel()
	plan := Decide(Observed{Service: testService(), Pods: testPods(1)})
	if len(plan.MissingNodes) != 1 || plan.MissingNodes[0] != "n" || len(plan.Create) != 1 || len(plan.Create[0].Endpoints) != 0 {
		t.Errorf("plan %+v", plan)
	}
}
