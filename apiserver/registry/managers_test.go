package registry

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// TestManage: who manages what is the same whether the fields that a change left alone are looked at or not.
func TestManage(t *testing.T) {
	t.Parallel()
	r := &Registry{Options: Options{Resource: core.Pod}, managers: map[string]*fieldManager{}}
	types := &Managers{Types: applyconfigurations.NewTypeConverter(scheme.Scheme), Scheme: scheme.Scheme}
	for sub, hooks := range map[string]*resource.Hooks{"": &core.Pod.Hooks, "status": core.Pod.Sub("status").Hooks} {
		m, err := types.new(core.Pod, sub, hooks)
		if err != nil {
			t.Fatal(err)
		}
		r.managers[sub] = m
	}
	before := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a": "b"}, Finalizers: []string{"x/y"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}, NodeSelector: map[string]string{"k": "v"}},
	}
	before = r.manage(&corev1.Pod{}, before, WriteOptions{Manager: "creator"}).(*corev1.Pod)
	if len(before.ManagedFields) != 1 || before.Spec.Containers == nil {
		t.Fatalf("a new pod: %+v", before)
	}
	for name, change := range map[string]func(*corev1.Pod){
		"nothing": func(*corev1.Pod) {},
		"status": func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: "Running", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}}}
		},
		"an image":    func(p *corev1.Pod) { p.Spec.Containers[0].Image = "j" },
		"a port gone": func(p *corev1.Pod) { p.Spec.Containers[0].Ports = nil },
		"labels":      func(p *corev1.Pod) { p.Labels = map[string]string{"c": "d"} },
		"finalizers":  func(p *corev1.Pod) { p.Finalizers = nil },
		"all of it": func(p *corev1.Pod) {
			p.Labels, p.Spec, p.Status = nil, corev1.PodSpec{}, corev1.PodStatus{Phase: "Failed"}
		},
		"no managers":    func(p *corev1.Pod) { p.ManagedFields = nil },
		"empty managers": func(p *corev1.Pod) { p.ManagedFields = []metav1.ManagedFieldsEntry{{}} },
	} {
		for _, o := range []WriteOptions{{Manager: "other"}, {Manager: "creator"}, {Manager: "kubelet", Subresource: "status"}} {
			live, whole, part := before.DeepCopy(), before.DeepCopy(), before.DeepCopy()
			change(whole)
			change(part)
			for _, pod := range []*corev1.Pod{live, whole} {
				pod.SetGroupVersionKind(core.Pod.GVK())
			}
			want := r.managed(live, whole, o).(*corev1.Pod)
			live = before.DeepCopy()
			got := r.manage(live, part, o).(*corev1.Pod)
			for _, pod := range []*corev1.Pod{want, got} {
				for i := range pod.ManagedFields {
					pod.ManagedFields[i].Time = &metav1.Time{Time: time.Unix(1, 0)}
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s by %s %s:\n%v; on the whole\n%v", name, o.Manager, o.Subresource, got, want)
			}
			if !reflect.DeepEqual(live, before) {
				t.Errorf("%s by %s %s: the live object has changed", name, o.Manager, o.Subresource)
			}
		}
	}
}
