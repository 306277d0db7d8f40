package registry

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources"
	"github.com/kogge-dev/kogge/apiserver/resources/apps"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/schemas"
)

// unchecked gives objects the type of their kind, whatever is in them.
type unchecked struct {
	managedfields.TypeConverter
	scheme *runtime.Scheme
}

func (u unchecked) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	gvk := o.GetObjectKind().GroupVersionKind()
	empty, err := u.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	empty.GetObjectKind().SetGroupVersionKind(gvk)
	of, err := u.TypeConverter.ObjectToTyped(empty, opts...)
	if err != nil {
		return nil, err
	}
	v, err := value.NewValueReflect(o)
	if err != nil {
		return nil, err
	}
	return typed.AsTypedUnvalidated(v, of.Schema(), of.TypeRef()), nil
}

// endpoint is one through which objects may be made, by the registry and, to compare, by the library alone.
type endpoint struct {
	*Registry
	library     *Registry
	subresource string
}

func (e endpoint) String() string { return fmt.Sprint(e.Resource.GVK(), " ", e.subresource) }

// endpoints are those of all kinds with a schema.
var endpoints = sync.OnceValue(func() (out []endpoint) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(known); err != nil {
			panic(err)
		}
	}
	for _, kind := range resources.All() {
		parser, err := schemas.Parser()
		if kind.Structure != "" {
			parser, err = typed.NewParser(typed.YAMLObject(kind.Structure))
		}
		if err != nil {
			panic(err)
		}
		types := &Managers{Types: unchecked{managedfields.NewSchemeTypeConverter(known, parser), known}}
		endpoints := map[string]*resource.Hooks{"": &kind.Hooks}
		for _, s := range kind.Subresources {
			if s.Hooks != nil {
				endpoints[s.Name] = s.Hooks
			}
		}
		for sub, hooks := range endpoints {
			m, err := types.new(kind, sub, hooks)
			if err != nil {
				panic(err)
			}
			plan := types.fieldPlan(kind, hooks)
			if plan() == nil {
				continue
			}
			library := &Registry{Options: Options{Resource: kind}, managers: map[string]*fieldManager{sub: m}}
			both := *library
			both.plans = map[string]fieldPlan{sub: plan}
			out = append(out, endpoint{Registry: &both, library: library, subresource: sub})
		}
	}
	return out
})

// compare tells whether the object is of the ordinary, and fails unless it has then the managedFields that the library would give it.
func (e endpoint) compare(t testing.TB, obj resource.Object) bool {
	t.Helper()
	o := WriteOptions{Manager: "creator", Subresource: e.subresource}
	before := obj.DeepCopyObject()
	got, ok := e.ownNew(e.Resource.New(), obj, o)
	if !reflect.DeepEqual(obj, before) {
		t.Fatalf("%s: the object has changed", e)
	}
	if !ok {
		return false
	}
	want := e.library.manage(e.Resource.New(), obj.DeepCopyObject().(resource.Object), o).GetManagedFields()
	for _, entries := range [][]metav1.ManagedFieldsEntry{got, want} {
		for i := range entries {
			if age := time.Since(entries[i].Time.Time); age < 0 || age > time.Minute {
				t.Errorf("%s: a time of %s", e, entries[i].Time)
			}
			entries[i].Time = nil
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n%s; the library says\n%s\nof %+v", e, raws(got), raws(want), before)
	}
	return true
}

func raws(entries []metav1.ManagedFieldsEntry) (out []string) {
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s %s %s %s %s %s", e.Manager, e.Operation, e.APIVersion, e.Subresource, e.FieldsType, e.FieldsV1.GetRawString()))
	}
	return out
}

// ordinary makes an object that brings no managedFields.
func ordinary(e endpoint, next func() byte) resource.Object {
	obj := e.Resource.New()
	f := &filler{next: next, left: maxValues, dense: next() / 2}
	f.fill(reflect.ValueOf(obj).Elem())
	obj.SetManagedFields(nil)
	resource.Untype(obj)
	return obj
}

// TestNewFields fills objects of all kinds at random, and asks the library.
func TestNewFields(t *testing.T) {
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for i, e := range endpoints() {
		t.Run(e.String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			same := 0
			for range rounds {
				if e.compare(t, ordinary(e, func() byte { return byte(random.Uint32()) })) {
					same++
				}
			}
			if same < rounds/4 {
				t.Errorf("only %d of %d objects were of the ordinary", same, rounds)
			}
			t.Logf("%d of %d", same, rounds)
		})
	}
}

// FuzzNewFields does so with what the fuzzer finds.
func FuzzNewFields(f *testing.F) {
	for i := range endpoints() {
		f.Add(uint16(i), []byte{255, 100, 40, 1, 50, 20, 200, 3})
	}
	f.Fuzz(func(t *testing.T, kind uint16, data []byte) {
		all := endpoints()
		e := all[int(kind)%len(all)]
		e.compare(t, ordinary(e, from(data)))
	})
}

// of finds the endpoint of a kind.
func of(t testing.TB, kind *resource.Resource, subresource string) endpoint {
	t.Helper()
	for _, e := range endpoints() {
		if e.Resource == kind && e.subresource == subresource {
			return e
		}
	}
	t.Fatalf("%s has no schema", kind.Plural)
	return endpoint{}
}

func container(change func(*corev1.Container)) *corev1.Pod {
	c := corev1.Container{Name: "c", Image: "i"}
	change(&c)
	return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
}

// TestNewFieldsOf looks at shapes one by one. An empty text: they are left to the library.
func TestNewFieldsOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		obj  resource.Object
		kind *resource.Resource
		sub  string
		want string
	}{
		"nothing":           {obj: &corev1.Pod{}, want: "none"},
		"nobody's":          {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", UID: "u", Generation: 1, ResourceVersion: "1", SelfLink: "s", CreationTimestamp: metav1.Now()}}, want: "none"},
		"kind":              {obj: &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}, want: "none"},
		"a reset field":     {obj: &corev1.Pod{Status: corev1.PodStatus{Phase: "Failed", Conditions: []corev1.PodCondition{{Type: "Ready"}}}}, want: "none"},
		"wrong where reset": {obj: &corev1.Pod{Status: corev1.PodStatus{ResourceClaimStatuses: []corev1.PodResourceClaimStatus{{}, {}}}}},
		"a part reset":      {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "u"}}, GenerateName: "g"}}, sub: "status", want: `{"f:metadata":{"f:generateName":{}}}`},
		"a map":             {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"b": "", "a": "x", "a.b/c": "y"}}}, want: `{"f:metadata":{"f:labels":{".":{},"f:a":{},"f:a.b/c":{},"f:b":{}}}}`},
		"an empty map":      {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}, want: "none"},
		"an atomic map":     {obj: &corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{"a": "b"}}}, want: `{"f:spec":{"f:nodeSelector":{}}}`},
		"bytes":             {kind: core.Secret, obj: &corev1.Secret{Data: map[string][]byte{"a": nil, "b": {}}}, want: `{"f:data":{".":{},"f:a":{},"f:b":{}}}`},
		"a set":             {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"y", "x/z"}}}, want: `{"f:metadata":{"f:finalizers":{".":{},"v:\"x/z\"":{},"v:\"y\"":{}}}}`},
		"twice in a set":    {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"x", "x"}}}},
		"an empty list":     {obj: &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{}}}, want: `{"f:spec":{"f:containers":{}}}`},
		"keys": {obj: container(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: "UDP"}, {ContainerPort: 8}}
		}), want: `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}},"k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{}}}}}`},
		"a default again": {obj: container(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{ContainerPort: 8, Protocol: "TCP"}, {ContainerPort: 8}}
		})},
		"twice in a list": {obj: &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}, {Name: "c"}}}}},
		"no key":          {kind: core.ServiceAccount, obj: &corev1.ServiceAccount{Secrets: []corev1.ObjectReference{{Kind: "Secret"}}}},
		"atomic items":    {kind: core.ServiceAccount, obj: &corev1.ServiceAccount{Secrets: []corev1.ObjectReference{{Name: "s"}}}, want: `{"f:secrets":{".":{},"k:{\"name\":\"s\"}":{}}}`},
		"quantities":      {obj: container(func(c *corev1.Container) { c.Resources.Limits = corev1.ResourceList{"cpu": {}} }), want: `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{}}}}}}}`},
		"a number or text": {obj: container(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("x")}}}
		}), want: `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:livenessProbe":{".":{},"f:httpGet":{".":{},"f:port":{}}},"f:name":{},"f:resources":{}}}}}`},
		"neither": {obj: container(func(c *corev1.Container) {
			c.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.IntOrString{Type: 7}}}}
		})},
		"an atomic struct":  {kind: core.Event, obj: &corev1.Event{InvolvedObject: corev1.ObjectReference{Name: "p"}, FirstTimestamp: metav1.Unix(1, 0)}, want: `{"f:firstTimestamp":{},"f:involvedObject":{}}`},
		"anything":          {kind: apps.ControllerRevision, obj: &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{"a":[1]}`)}, Revision: 1}, want: `{"f:data":{},"f:revision":{}}`},
		"no JSON":           {kind: apps.ControllerRevision, obj: &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{`)}}},
		"managers":          {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{}}}}},
		"a text to escape":  {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{`"`: "b"}}}},
		"a text in a value": {obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"<"}}}},
	} {
		if c.kind == nil {
			c.kind = core.Pod
		}
		e := of(t, c.kind, c.sub)
		if e.compare(t, c.obj) != (c.want != "") {
			t.Errorf("%s: of the ordinary: %v", name, c.want == "")
			continue
		}
		got, _ := e.ownNew(e.Resource.New(), c.obj, WriteOptions{Manager: "m", Subresource: c.sub})
		raw := "none"
		if len(got) == 1 {
			raw = got[0].FieldsV1.GetRawString()
		}
		if c.want != "" && raw != c.want {
			t.Errorf("%s: %s; want %s", name, raw, c.want)
		}
	}
}

// TestOldFields: what is not new, or made by nobody in particular, is not looked at.
func TestOldFields(t *testing.T) {
	t.Parallel()
	e := of(t, core.Pod, "")
	labelled := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}
	for name, c := range map[string]struct {
		live    *corev1.Pod
		manager string
	}{
		"live":          {live: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}}, manager: "m"},
		"a phase":       {live: &corev1.Pod{Status: corev1.PodStatus{Phase: "Running"}}, manager: "m"},
		"no name":       {live: &corev1.Pod{}},
		"no UTF-8 name": {live: &corev1.Pod{}, manager: "\xff"},
	} {
		if _, ok := e.ownNew(c.live, labelled, WriteOptions{Manager: c.manager}); ok {
			t.Errorf("%s: taken for new", name)
		}
	}
}

// BenchmarkManageNew says what it costs to record who made a Pod, by a plan and by the library.
func BenchmarkManageNew(b *testing.B) {
	e := of(b, core.Pod, "")
	pod := container(func(c *corev1.Container) {
		c.Env = []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "C", Value: "d"}}
		c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80, Protocol: "TCP"}}
		c.Resources.Requests = corev1.ResourceList{"cpu": quantity.MustParse("10m"), "memory": quantity.MustParse("16Mi")}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		c.TerminationMessagePath, c.TerminationMessagePolicy, c.ImagePullPolicy = "/dev/termination-log", "File", "Always"
	})
	pod.Labels = map[string]string{"app": "a", "pod-template-hash": "h"}
	pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: "Exists"}}
	pod.Spec.RestartPolicy, pod.Spec.DNSPolicy, pod.Spec.SchedulerName, pod.Spec.SecurityContext = "Always", "ClusterFirst", "default-scheduler", &corev1.PodSecurityContext{}
	if !e.compare(b, pod) {
		b.Fatal("not of the ordinary")
	}
	for name, r := range map[string]*Registry{"plan": e.Registry, "library": e.library} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pod.ManagedFields = nil
				r.manage(&corev1.Pod{}, pod, WriteOptions{Manager: "creator"})
			}
		})
	}
}
