package patch

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
)

// like is a target for objects as the given one.
func like(object runtime.Object) Target {
	return Target{New: func() runtime.Object { return reflect.New(reflect.TypeOf(object).Elem()).Interface().(runtime.Object) }}
}

// holds applies a patch to the Go object and to its tree: both make the same, or the former is left to the latter. It says whether it wasn't.
func holds(t *testing.T, current runtime.Object, body string) bool {
	t.Helper()
	change := func() map[string]any {
		change := map[string]any{}
		if found, err := kjson.UnmarshalStrict([]byte(body), &change); err != nil || len(found) > 0 {
			return nil
		}
		return change
	}
	told, untouched := change(), current.DeepCopyObject()
	fields := touchedBy(told, current)
	got := typed(current, told, fields)
	if !reflect.DeepEqual(current, untouched) {
		t.Fatalf("%s: the patched object has changed", body)
	}
	if !reflect.DeepEqual(told, change()) {
		t.Fatalf("%s: the change has changed", body)
	}
	if got == nil {
		return false
	}
	p := &Patch{Type: types.StrategicMergePatchType, Body: []byte(body), Directive: metav1.FieldValidationStrict}
	want, err := p.trees(current, like(current), told, fields, nil)
	if err != nil {
		t.Fatalf("%s of %s: as a tree: %v", body, text(t, current), err)
	}
	if !reflect.DeepEqual(got, want) || text(t, got) != text(t, want) {
		t.Fatalf("%s of\n%s is\n%s\nas a tree\n%s\n%s", body, text(t, current), text(t, got), text(t, want), differs("", reflect.ValueOf(got), reflect.ValueOf(want)))
	}
	got.(metav1.Object).SetManagedFields(nil) // whose entries are shared
	scribble(reflect.ValueOf(got))
	if !reflect.DeepEqual(current, untouched) {
		t.Fatalf("%s: the patched object shares something with what the patch made", body)
	}
	return true
}

func text(t testing.TB, object runtime.Object) string {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// differs tells the first place where two values differ, which their JSON needn't show.
func differs(path string, a, b reflect.Value) string {
	if a.Kind() == b.Kind() && !a.IsZero() && !b.IsZero() {
		switch a.Kind() {
		case reflect.Pointer:
			return differs(path, a.Elem(), b.Elem())
		case reflect.Struct:
			for i := range a.NumField() {
				if field := a.Type().Field(i); field.IsExported() && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
					return differs(path+"."+field.Name, a.Field(i), b.Field(i))
				}
			}
		case reflect.Slice:
			for i := range min(a.Len(), b.Len()) {
				if !reflect.DeepEqual(a.Index(i).Interface(), b.Index(i).Interface()) {
					return differs(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
				}
			}
		}
	}
	return fmt.Sprintf("%s: %#v, as a tree %#v", path, a.Interface(), b.Interface())
}

// scribble overwrites all that a value holds or points at.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		if leaves[v.Type()] != nil {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				scribble(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		if !v.IsNil() {
			v.Clear()
		}
	default:
		if v.CanSet() {
			v.SetZero()
		}
	}
}

func someNode() *corev1.Node {
	pod := running(pendingPod())
	condition := func(kind corev1.NodeConditionType) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: "False", LastHeartbeatTime: *pod.Status.StartTime, LastTransitionTime: *pod.Status.StartTime, Reason: "Fine"}
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", Labels: map[string]string{"a": "b"}},
		Spec: corev1.NodeSpec{
			PodCIDR: "10.0.0.0/24", PodCIDRs: []string{"10.0.0.0/24"},
			Taints: []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: "NoSchedule"}, {Key: "other", Value: "v", Effect: "NoExecute", TimeAdded: pod.Status.StartTime}},
		},
		Status: corev1.NodeStatus{
			Capacity:   corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("110")},
			Conditions: []corev1.NodeCondition{condition(corev1.NodeMemoryPressure), condition(corev1.NodeDiskPressure), condition(corev1.NodeReady)},
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}, {Type: corev1.NodeHostName, Address: "n"}},
			Images:     []corev1.ContainerImage{{Names: []string{"a", "b"}, SizeBytes: 7}},
		},
	}
}

func someDeployment() *appsv1.Deployment {
	three, quarter := int32(3), intstr.FromString("25%")
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d", Generation: 2},
		Spec: appsv1.DeploymentSpec{
			Replicas: &three, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Strategy: appsv1.DeploymentStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &quarter, MaxUnavailable: &quarter}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: pendingPod().Spec},
		},
	}
}

// commonObjects are what the common patches are of, by the names that those call them by.
func commonObjects() map[string]runtime.Object {
	return map[string]runtime.Object{
		"pending": pendingPod(), "running": running(pendingPod()), "node": someNode(), "deployment": someDeployment(),
		"service": &corev1.Service{}, "lease": &coordinationv1.Lease{}, "secret": &corev1.Secret{Data: map[string][]byte{"a": []byte("b")}},
	}
}

type patchOf struct{ object, body string }

// commonPatches are such as kubelets, controllers and kubectl send.
func commonPatches(tb testing.TB) []patchOf {
	tb.Helper()
	pod := running(pendingPod())
	return []patchOf{
		{"pending", `{}`},
		{"pending", string(difference(tb, pendingPod(), pod))},
		{"running", string(difference(tb, pod, pendingPod()))},
		{"pending", `{"metadata":{"labels":{"a":"b","app":null},"annotations":{"note":null}}}`},
		{"pending", `{"metadata":{"labels":null,"annotations":{}}}`},
		{"pending", `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"11c1f0f5-3b0a-4c55-9f2e-0c5f4f7f1f11"}],"uid":"u"}}`},
		{"pending", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Other","name":"o","uid":"other","controller":true}],"uid":"u"}}`},
		{"pending", `{"metadata":{"finalizers":["a/b"]}}`},
		{"pending", `{"metadata":{"finalizers":null,"deletionGracePeriodSeconds":0}}`},
		{"pending", `{"spec":{"containers":[{"name":"web","image":"nginx:1.30"}]}}`},
		{"pending", `{"spec":{"$setElementOrder/containers":[{"name":"web"}],"containers":[{"name":"web","image":"nginx:1.30","resources":{"requests":{"cpu":"2","memory":null}}}]}}`},
		{"pending", `{"spec":{"containers":[{"name":"other","image":"i","env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"f"}}}],"livenessProbe":{"httpGet":{"port":"http"}}}]}}`},
		{"pending", `{"spec":{"activeDeadlineSeconds":5,"tolerations":null,"nodeSelector":{"a":"b"}}}`},
		{"pending", `{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m"}],"nominatedNodeName":"n"}}`},
		{"running", `{"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-05-04T04:00:00Z","message":null}]}}`},
		{"running", `{"status":{"podIPs":[{"$patch":"delete","ip":"10.244.0.7"},{"ip":"10.244.0.8"}],"podIP":"10.244.0.8"}}`},
		{"running", `{"status":{"startTime":null,"containerStatuses":[]}}`},
		{"node", `{"spec":{"taints":null}}`},
		{"node", `{"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule","timeAdded":"2026-05-04T04:00:00Z"}]}}`},
		{"node", `{"status":{"$setElementOrder/conditions":[{"type":"MemoryPressure"},{"type":"DiskPressure"},{"type":"Ready"}],"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-05-04T05:00:00Z"}]}}`},
		{"node", `{"status":{"allocatable":{"cpu":"3900m","memory":"15Gi"},"capacity":{"cpu":8,"pods":null},"images":[{"names":["c"],"sizeBytes":12}],"nodeInfo":{"kubeletVersion":"v"}}}`},
		{"node", `{"status":{"$setElementOrder/addresses":[{"type":"Hostname"},{"type":"InternalIP"}],"addresses":[{"type":"InternalIP","address":"10.0.0.2"}]}}`},
		{"deployment", `{"spec":{"replicas":5}}`},
		{"deployment", `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-05-04T05:00:00Z"}}}}}`},
		{"deployment", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":"10%"}}}}`},
		{"deployment", `{"spec":{"paused":true},"status":{"conditions":[{"type":"Available","status":"True","lastUpdateTime":null}]}}`},
		{"service", `{"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":8081}],"selector":{"a":"b"}},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}}`},
		{"lease", `{"spec":{"renewTime":"2026-05-04T05:00:00.123456Z","leaseDurationSeconds":40,"holderIdentity":"h"}}`},
		{"secret", `{"data":{"a":"Yg==","c":""},"type":"Opaque"}`},
	}
}

// TestTypedCommon: what clients usually send is not left to the trees.
func TestTypedCommon(t *testing.T) {
	t.Parallel()
	for _, c := range commonPatches(t) {
		if !holds(t, commonObjects()[c.object], c.body) {
			t.Errorf("%s: %s is left to the trees", c.object, c.body)
		}
	}
}

// unusualPatches of a pod are wrong, or such as few send.
var unusualPatches = []string{
	`{"$patch":"delete"}`, `{"metadata":null}`, `{"metadata":{"managedFields":null}}`, `{"unknown":1}`, `{"status":{"unknown":null}}`, `{"status":{"Phase":"Running"}}`, `{"Status":{}}`,
	`{"status":[]}`, `{"status":"s"}`, `{"status":{"phase":1}}`, `{"status":{"phase":["a"]}}`, `{"status":{"conditions":{}}}`, `{"status":{"conditions":[1]}}`, `{"status":{"conditions":[null]}}`,
	`{"status":{"conditions":[{"status":"True"}]}}`, `{"status":{"conditions":[{"type":""}]}}`, `{"status":{"conditions":[{"type":"A"},{"type":"A"}]}}`, `{"status":{"conditions":[{"$patch":"replace"},{"type":"A"}]}}`,
	`{"status":{"conditions":[{"$patch":"delete","type":"Ready"},{"type":"Ready"}]}}`, `{"status":{"conditions":[{"$patch":"merge","type":"Ready"}]}}`, `{"status":{"conditions":[{"$patch":"delete","type":"Ready","status":"x"}]}}`,
	`{"status":{"$setElementOrder/conditions":null}}`, `{"status":{"$setElementOrder/conditions":[1]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"A"}],"conditions":null}}`,
	`{"status":{"$setElementOrder/conditions":[{"type":"A"}],"conditions":[{"type":"B"}]}}`, `{"status":{"$setElementOrder/conditions":[{"type":"A"},{"type":"B"}],"conditions":[{"type":"B"},{"type":"A"}]}}`,
	`{"status":{"$setElementOrder/initContainerStatuses":[{"name":"A"}]}}`, `{"status":{"$setElementOrder/unknown":[]}}`, `{"status":{"$patch":"replace"}}`, `{"status":{"$retainKeys":["phase"],"phase":"a"}}`,
	`{"spec":{"volumes":[{"name":"token","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/y"]}}`,
	`{"status":{"startTime":"yesterday"}}`, `{"status":{"startTime":1}}`, `{"status":{"containerStatuses":[{"restartCount":2147483648}]}}`, `{"status":{"containerStatuses":[{"restartCount":1.5}]}}`, `{"status":{"containerStatuses":[{"restartCount":1.0}]}}`,
	`{"status":{"containerStatuses":[{"allocatedResources":{"cpu":" 1"}}]}}`, `{"status":{"containerStatuses":[{"allocatedResources":{"cpu":"x"}}]}}`, `{"status":{"containerStatuses":[{"allocatedResources":{"cpu":null}}]}}`, `{"status":{"containerStatuses":[{"$patch":"delete"}]}}`,
	`{"metadata":{"labels":{"a":1}}}`, `{"metadata":{"labels":{"$patch":"replace","n":"m"}}}`, `{"metadata":{"labels":{"$other":null}}}`, `{"metadata":{"labels":[]}}`, `{"metadata":{"creationTimestamp":{}}}`,
	`{"spec":{"containers":[{"name":"web","livenessProbe":{"httpGet":{"port":2147483648}}}]}}`, `{"spec":{"containers":[{"name":"web","livenessProbe":{"httpGet":{"port":true}}}]}}`,
}

// TestTypedUnusual: what is wrong or unusual is left to the trees.
func TestTypedUnusual(t *testing.T) {
	t.Parallel()
	for _, body := range unusualPatches {
		if holds(t, running(pendingPod()), body) {
			t.Errorf("%s is not left to the trees", body)
		}
	}
}

// TestTypedRandom: whatever the objects hold and whatever is changed of them, both ways lead to the same.
func TestTypedRandom(t *testing.T) {
	t.Parallel()
	for _, object := range []runtime.Object{
		&corev1.Pod{}, &corev1.Node{}, &corev1.Service{}, &corev1.Secret{}, &corev1.PersistentVolumeClaim{}, &corev1.Namespace{}, &corev1.Event{},
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &batchv1.Job{}, &coordinationv1.Lease{}, &networkingv1.Ingress{}, &networkingv1.NetworkPolicy{},
	} {
		t.Run(fmt.Sprintf("%T", object), func(t *testing.T) {
			t.Parallel()
			typed, all := 0, 0
			for seed := range uint64(300) {
				fill := filler{rand.New(rand.NewPCG(seed, 1))}
				before, live := like(object).New(), like(object).New()
				fill.all(before)
				fill.all(live)
				after := before.DeepCopyObject()
				fill.some(after)
				body, err := twoWay(before, after)
				if err != nil {
					continue // an object that has a key twice
				}
				all++
				if holds(t, before, string(body)) {
					typed++
				}
				holds(t, live, string(body))
			}
			if all < 50 || typed < all/4 {
				t.Errorf("of %d patches %d were not left to the trees", all, typed)
			}
		})
	}
}

// TestTypedLists: items come in the order in which trees have them, however additions, changes, deletions and a told order meet.
func TestTypedLists(t *testing.T) {
	t.Parallel()
	typed := 0
	for seed := range uint64(4_000) {
		random := rand.New(rand.NewPCG(seed, 2))
		pod := &corev1.Pod{}
		for _, key := range random.Perm(7)[:random.IntN(5)] {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodConditionType(fmt.Sprint(key)), Reason: "before"})
		}
		var items, order []map[string]any
		for i, key := range random.Perm(7)[:random.IntN(7)] {
			item := map[string]any{"type": fmt.Sprint(key)}
			switch i % 3 {
			case 0:
				items = append(items, map[string]any{"type": fmt.Sprint(key), "message": "after"})
				order = append(order, item)
			case 1:
				order = append(order, item)
			case 2:
				items = append(items, map[string]any{"type": fmt.Sprint(key), "$patch": "delete"})
			}
		}
		status := map[string]any{"conditions": items}
		if random.IntN(2) == 0 {
			status["$setElementOrder/conditions"] = order
		}
		body, err := json.Marshal(map[string]any{"status": status})
		if err != nil {
			t.Fatal(err)
		}
		if holds(t, pod, string(body)) {
			typed++
		}
	}
	if typed < 3_000 {
		t.Errorf("only %d were not left to the trees", typed)
	}
}
