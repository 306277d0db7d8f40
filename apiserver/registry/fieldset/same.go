package fieldset

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// same tells whether two leaves, which are there both, are the same in JSON.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.String:
		return a.String() == b.String()
	case reflect.Bool:
		return a.Bool() == b.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return a.Int() == b.Int()
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			return same(a.Elem(), b.Elem())
		}
		if a.IsNil() && b.IsNil() {
			return true
		}
	}
	x, y := pointer(a), pointer(b)
	return identical(x, y) || sameJSON(x, y)
}

// pointer is one to a leaf, or to a copy of one that has no address.
func pointer(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		return v.Interface()
	}
	if v.CanAddr() {
		return v.Addr().Interface()
	}
	at := reflect.New(v.Type())
	at.Elem().Set(v)
	return at.Interface()
}

// identical tells of most leaves that are the same that they are, without writing them.
func identical(x, y any) bool {
	switch a := x.(type) {
	case *metav1.Time:
		b := y.(*metav1.Time)
		return a != nil && b != nil && a.Time.Equal(b.Time)
	case *metav1.MicroTime:
		b := y.(*metav1.MicroTime)
		return a != nil && b != nil && a.Time.Equal(b.Time)
	case *resource.Quantity:
		b := y.(*resource.Quantity)
		return a != nil && b != nil && *a == *b
	}
	return reflect.DeepEqual(x, y)
}

// sameJSON tells it of all.
func sameJSON(x, y any) bool {
	was, err := value.NewValueReflect(x)
	if err != nil {
		return false // unsound, which is noticed elsewhere
	}
	is, err := value.NewValueReflect(y)
	return err == nil && value.Equals(was, is)
}
