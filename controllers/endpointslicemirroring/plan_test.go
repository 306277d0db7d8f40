package endpointslicemirroring

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func testEndpoints() *corev1.Endpoints {
	return &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "ns", UID: "uid", Labels: map[string]string{"a": "b"},
		Annotations: map[string]string{"c": "d", corev1.LastAppliedConfigAnnotation: "x"}}}
}

func subset(port int32, addresses ...string) corev1.EndpointSubset {
	s := corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Name: "http", Port: port, Protocol: corev1.ProtocolTCP}}}
	for _, ip := range addresses {
		s.Addresses = append(s.Addresses, corev1.EndpointAddress{IP: ip})
	}
	return s
}

// made is what a plan leaves behind, with names.
func made(plan Plan) []*discoveryv1.EndpointSlice {
	var all []*discoveryv1.EndpointSlice
	for i, slice := range append(plan.Create, plan.Update...) {
		if slice.Name == "" {
			slice.Name = fmt.Sprint("made", i)
		}
		all = append(all, slice)
	}
	return all
}

func TestDecide(t *testing.T) {
	t.Parallel()
	e := testEndpoints()
	first := Decide(e, []corev1.EndpointSubset{subset(80, "10.0.0.1", "10.0.0.2", "fd00::1", "nonsense")}, nil)
	if len(first.Create) != 2 || first.Invalid != 1 || first.Skipped != 1 {
		t.Fatalf("plan %+v", first)
	}
	slice := first.Create[0]
	if slice.Labels["a"] != "b" || slice.Labels[discoveryv1.LabelServiceName] != "s" || slice.Labels[discoveryv1.LabelManagedBy] != managedBy ||
		len(slice.Annotations) != 1 || slice.GenerateName != "s-" || !metav1.IsControlledBy(slice, e) {
		t.Errorf("slice %+v", slice.ObjectMeta)
	}
	present := made(first)
	same := Decide(e, []corev1.EndpointSubset{subset(80, "10.0.0.2", "10.0.0.1", "fd00::1")}, present)
	if len(same.Create)+len(same.Update)+len(same.Delete) != 0 {
		t.Errorf("the same again: %+v", same)
	}
	added := Decide(e, []corev1.EndpointSubset{subset(80, "10.0.0.2", "10.0.0.1", "10.0.0.3", "fd00::1")}, present)
	if len(added.Create) != 0 || len(added.Update) != 1 || len(added.Delete) != 0 || len(added.Update[0].Endpoints) != 3 {
		t.Errorf("one more: %+v", added)
	}
	other := Decide(e, []corev1.EndpointSubset{subset(81, "10.0.0.1")}, present)
	if len(other.Create) != 0 || len(other.Update) != 1 || len(other.Delete) != 1 || other.Update[0].Name != present[0].Name {
		t.Errorf("another port: %+v", other)
	}
	if none := Decide(e, nil, present); len(none.Delete) != 2 {
		t.Errorf("nothing left: %+v", none)
	}
	again := testEndpoints()
	again.UID = "other"
	if plan := Decide(again, []corev1.EndpointSubset{subset(80, "10.0.0.1", "10.0.0.2", "fd00::1")}, present); len(plan.Update) != 2 {
		t.Errorf("a new owner: %+v", plan)
	}
}

func TestMirrored(t *testing.T) {
	t.Parallel()
	selecting := &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"a": "b"}}}
	skipped, leader := testEndpoints(), testEndpoints()
	skipped.Labels[discoveryv1.LabelSkipMirror] = "true"
	leader.Annotations[leaderAnnotation] = "{}"
	for name, c := range map[string]struct {
		endpoints *corev1.Endpoints
		service   *corev1.Service
		want      bool
	}{
		"mirrored": {testEndpoints(), &corev1.Service{}, true}, "selected": {testEndpoints(), selecting, false},
		"skipped": {skipped, &corev1.Service{}, false}, "leader": {leader, &corev1.Service{}, false}, "no service": {testEndpoints(), nil, false},
	} {
		if got := Mirrored(c.endpoints, c.service); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
