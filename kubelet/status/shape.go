package status

import (
	"encoding/json"
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shape is how the values of one Go type are written and patched. Which shape a type has is found once, by its tags.
type shape interface {
	value
	// patch writes what makes one value the other. They are not the same.
	patch(w *writer, from, to reflect.Value)
}

// value is how the values of one Go type stand in JSON.
type value interface {
	write(w *writer, v reflect.Value)
	// same tells whether two values would be written alike.
	same(w *writer, a, b reflect.Value) bool
}

// replaced is the shape of values whose patch is the new one.
type replaced struct{ value }

func (r replaced) patch(w *writer, _, to reflect.Value) { r.write(w, to) }

// shapeOf finds the shape of a type. One that it can't tell is a mistake of ours, seen as soon as the program starts.
func shapeOf(t reflect.Type) shape {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return replaced{moment{}}
	case reflect.TypeFor[resource.Quantity]():
		return replaced{quantity{}}
	case reflect.TypeFor[v1.ResourceList]():
		return resources{}
	}
	// A pointer is written as what it points to.
	if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		panic(fmt.Sprintf("status: %s has its own way to be written", t))
	}
	switch t.Kind() {
	case reflect.String:
		return replaced{text{}}
	case reflect.Bool:
		return replaced{boolean{}}
	case reflect.Int32, reflect.Int64:
		return replaced{number{}}
	case reflect.Pointer:
		return pointer{shapeOf(t.Elem())}
	case reflect.Slice:
		return replaced{list{shapeOf(t.Elem())}}
	case reflect.Struct:
		return objectOf(t)
	}
	panic(fmt.Sprintf("status: no shape for %s", t))
}

// pointer is the shape of what may be missing.
type pointer struct{ to shape }

func (p pointer) write(w *writer, v reflect.Value) {
	if v.IsNil() {
		w.null()
		return
	}
	p.to.write(w, v.Elem())
}

func (p pointer) same(w *writer, a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() && b.IsNil()
	}
	return a.Pointer() == b.Pointer() || p.to.same(w, a.Elem(), b.Elem())
}

func (p pointer) patch(w *writer, from, to reflect.Value) {
	if from.IsNil() || to.IsNil() {
		p.write(w, to)
		return
	}
	p.to.patch(w, from.Elem(), to.Elem())
}
