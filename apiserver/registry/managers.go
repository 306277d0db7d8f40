package registry

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// fieldManager keeps managedFields and merges applied configurations, for one endpoint.
type fieldManager = managedfields.FieldManager

// Managers makes field managers, all on one schema.
type Managers struct {
	Types  managedfields.TypeConverter
	Scheme *runtime.Scheme
	// Converter is what stands in for a scheme where the objects have no Go type: custom resources; nil otherwise.
	Converter Converter
}

// Converter makes, defaults and converts objects of all versions of a kind.
type Converter interface {
	runtime.ObjectConvertor
	runtime.ObjectDefaulter
	runtime.ObjectCreater
}

func (m *Managers) new(r *resource.Resource, subresource string, hooks *resource.Hooks) (*fieldManager, error) {
	gvk := r.GVK()
	filter, err := fieldFilter(hooks)
	if err != nil {
		return nil, err
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(gvk.GroupVersion().String()): filter}
	if m.Converter != nil {
		return managedfields.NewDefaultCRDFieldManager(m.Types, m.Converter, m.Converter, m.Converter, gvk, gvk.GroupVersion(), subresource, filters)
	}
	c := converter{r}
	return managedfields.NewDefaultFieldManager(m.Types, c, c, c, gvk, gvk.GroupVersion(), subresource, filters)
}

// fieldFilter says which fields can be owned through an endpoint.
func fieldFilter(hooks *resource.Hooks) (fieldpath.Filter, error) {
	set := fieldpath.NewSet()
	for _, path := range hooks.ResetFields {
		var p fieldpath.Path
		for _, part := range strings.Split(path, ".") {
			p = append(p, fieldpath.PathElement{FieldName: &part})
		}
		set.Insert(p)
	}
	return fieldpath.NewExcludeSetFilter(set), nil
}

// converter is what the field manager wants of a scheme, for one resource of one version. There are no
// internal versions: converting to the own version is to do nothing.
type converter struct{ r *resource.Resource }

func (c converter) Convert(in, out, context any) error {
	return runtime.NewNotRegisteredErrForType("kogge", reflect.TypeOf(out))
}

func (c converter) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	gvk := c.r.GVK()
	if _, ok := gv.KindForGroupVersionKinds([]schema.GroupVersionKind{gvk}); !ok {
		return nil, runtime.NewNotRegisteredErrForTarget("kogge", reflect.TypeOf(in), gv)
	}
	if u, ok := in.(*unstructured.Unstructured); ok {
		// A merged configuration comes as a tree; what it leaves out is defaulted now.
		typed := c.r.New()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
			return nil, err
		}
		c.Default(typed)
		in = typed
	}
	in.GetObjectKind().SetGroupVersionKind(gvk)
	return in, nil
}

func (c converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (c converter) New(schema.GroupVersionKind) (runtime.Object, error) {
	o := c.r.New()
	o.GetObjectKind().SetGroupVersionKind(c.r.GVK())
	return o, nil
}

func (c converter) Default(obj runtime.Object) {
	if o, ok := obj.(resource.Object); ok && c.r.Default != nil {
		c.r.Default(o)
	}
}

// manage records that the manager set what differs between the two objects. Live stays as it is. Objects come out without kind and
// apiVersion. What an object's fields are is known from its type; all that is unusual the field manager finds out.
func (r *Registry) manage(live, obj resource.Object, o WriteOptions) resource.Object {
	if r.Resource.Whole {
		live = live.DeepCopyObject().(resource.Object)
		live.GetObjectKind().SetGroupVersionKind(r.Resource.GVK()) // obj, a tree, tells by itself what it is, be it another kind than is wanted
		return r.managed(live, obj, o)
	}
	fields, ok := r.ownNew(live, obj, o)
	if !ok {
		fields, ok = r.ownChanged(live, obj, o)
	}
	if ok {
		obj.SetManagedFields(fields)
		resource.Untype(obj)
		return obj
	}
	before, after := differing(live, obj)
	before.GetObjectKind().SetGroupVersionKind(r.Resource.GVK())
	after.GetObjectKind().SetGroupVersionKind(r.Resource.GVK())
	obj.SetManagedFields(r.managed(before, after, o).GetManagedFields())
	resource.Untype(obj)
	return obj
}

func (r *Registry) managed(live, obj resource.Object, o WriteOptions) resource.Object {
	out := r.managers[o.Subresource].UpdateNoErrors(live, obj, o.Manager).(resource.Object)
	resource.Untype(out)
	return out
}

// differing makes shallow copies of two objects of one Go type that lack the fields which are the same in both, beside the metadata: who manages
// what then costs what the change is, not what the object is. A change of status leaves the specification out.
func differing(a, b resource.Object) (resource.Object, resource.Object) {
	x, y := reflect.New(reflect.TypeOf(a).Elem()), reflect.New(reflect.TypeOf(b).Elem())
	x.Elem().Set(reflect.ValueOf(a).Elem())
	y.Elem().Set(reflect.ValueOf(b).Elem())
	for i := range x.Elem().NumField() {
		f, g := x.Elem().Field(i), y.Elem().Field(i)
		if !x.Elem().Type().Field(i).Anonymous && reflect.DeepEqual(f.Interface(), g.Interface()) {
			f.SetZero()
			g.SetZero()
		}
	}
	return x.Interface().(resource.Object), y.Interface().(resource.Object)
}

// Apply merges an applied configuration into the live object. Force takes over fields from other managers.
func (r *Registry) Apply(live resource.Object, patch runtime.Object, o WriteOptions, force bool) (resource.Object, error) {
	live.GetObjectKind().SetGroupVersionKind(r.Resource.GVK())
	out, err := r.managers[o.Subresource].Apply(live, patch, o.Manager, force)
	resource.Untype(live)
	if err != nil {
		return nil, err
	}
	resource.Untype(out)
	return out.(resource.Object), nil
}

// keepTimes puts back the old managedFields when nothing but their times changed, so that a write that
// changes nothing stays one.
func keepTimes(obj, old resource.Object) {
	now, before := obj.GetManagedFields(), old.GetManagedFields()
	if !sameButTimes(now, before) {
		return
	}
	obj.SetManagedFields(nil)
	old.SetManagedFields(nil)
	same := equality.Semantic.DeepEqual(obj, old)
	old.SetManagedFields(before)
	if same {
		obj.SetManagedFields(before)
	} else {
		obj.SetManagedFields(now)
	}
}

func sameButTimes(a, b []metav1.ManagedFieldsEntry) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		x.Time, y.Time = nil, nil
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}
