package patch

import (
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// touched are the fields of an object's Go type that a merge patch of either sort names, by their index: only they are made a tree, merged and
// read again. All others are as before, so that a patch of the status costs what the status costs. Nil: all fields.
type touched map[int]bool

// managedFields is the part of metadata that takes longest to make a tree of, and that few patches name.
const managedFields = "managedFields"

// touchedBy finds the fields of the object that the change names. A directive that is about the whole names all; a tree has no fields.
func touchedBy(change map[string]any, object runtime.Object) touched {
	t := reflect.TypeOf(object)
	if _, tree := object.(runtime.Unstructured); tree || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	if hasDirective(change) {
		return nil
	}
	if meta, named := change["metadata"]; named {
		inner, ok := meta.(map[string]any)
		if _, managers := inner[managedFields]; !ok || managers || hasDirective(inner) {
			return nil
		}
	}
	fields := touched{}
	for i := range t.Elem().NumField() {
		field := t.Elem().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" { // kind and apiVersion, which cost nothing
			fields[i] = true
		} else if _, named := change[name]; named {
			fields[i] = true
		}
	}
	return fields
}

func hasDirective(tree map[string]any) bool {
	for name := range tree {
		if strings.HasPrefix(name, "$") {
			return true
		}
	}
	return false
}

// of is a shallow copy of the object with the touched fields alone.
func (t touched) of(object runtime.Object) runtime.Object {
	if t == nil {
		return object
	}
	whole := reflect.ValueOf(object).Elem()
	part := reflect.New(whole.Type())
	for i := range t {
		part.Elem().Field(i).Set(whole.Field(i))
	}
	result := part.Interface().(runtime.Object)
	if meta, ok := result.(metav1.Object); ok {
		meta.SetManagedFields(nil)
	}
	return result
}

// complete gives the object, which was read from the touched fields' tree, all the others of the one that was patched.
func (t touched) complete(object, patched runtime.Object) {
	if t == nil {
		return
	}
	rest := reflect.New(reflect.TypeOf(patched).Elem())
	rest.Elem().Set(reflect.ValueOf(patched).Elem())
	for i := range t {
		rest.Elem().Field(i).SetZero()
	}
	from, to := reflect.ValueOf(rest.Interface().(runtime.Object).DeepCopyObject()).Elem(), reflect.ValueOf(object).Elem()
	for i := range from.NumField() {
		if !t[i] {
			to.Field(i).Set(from.Field(i))
		}
	}
	before, ok := patched.(metav1.Object)
	if after, is := object.(metav1.Object); ok && is && after.GetManagedFields() == nil {
		after.SetManagedFields(slices.Clone(before.GetManagedFields())) // whose entries nobody changes
	}
}
