package patch

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// typed does a strategic merge on the Go object, walking it and the change side by side: it is what the merge of trees makes, without the trees,
// which cost ten times as much. Nil: something is unusual or wrong, so that the trees are to be merged, of which errors tell. Neither the object
// nor the change is written to.
func typed(current runtime.Object, change map[string]any, touched touched) runtime.Object {
	if touched == nil {
		return nil
	}
	obj := touched.of(current)
	value := reflect.ValueOf(obj).Elem()
	whole, is := shapeOf(value.Type()).(*structure)
	if !is || !whole.mergeTouched(value, change, touched) {
		return nil
	}
	touched.complete(obj, current)
	return obj
}

// shape is how the values of one Go type are merged. The values are addressable, and start as shallow copies of those that are patched: what they
// point at is replaced, never written to. Where a method gives false, the value is of no use any more, and the trees are to be merged.
type shape interface {
	// flat says whether a shallow copy of every value shares nothing, and comes out of a tree as it went in.
	flat() bool
	// own makes of a shallow copy what would come out of its tree: it shares nothing, and is brought into the form that reading gives.
	own(v reflect.Value) bool
	// read sets the value to what stands in a change for something that isn't there yet, or that is replaced.
	read(v reflect.Value, from any) bool
	// merge changes the value, of which it is a shallow copy, by what stands in a change, which is not null.
	merge(v reflect.Value, change any) bool
}

// foreign are the values whose merge is left to the trees: there is a method that reads or writes their JSON, or a tag that is not known.
type foreign struct{}

func (foreign) flat() bool                    { return false }
func (foreign) own(reflect.Value) bool        { return false }
func (foreign) read(reflect.Value, any) bool  { return false }
func (foreign) merge(reflect.Value, any) bool { return false }
