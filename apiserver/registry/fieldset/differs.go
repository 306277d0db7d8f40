package fieldset

import (
	"reflect"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// differs tells whether a leaf that a struct holds is another than the zero of its type, in JSON: an empty list is not nil, but a time may
// be none and yet have a zone.
func differs(v reflect.Value) bool {
	if v.IsZero() {
		return false
	}
	at := v
	switch v.Kind() {
	case reflect.String, reflect.Bool, reflect.Slice, reflect.Map,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return true
	case reflect.Pointer:
	default:
		at = v.Addr()
	}
	is, err := value.NewValueReflect(at.Interface())
	if err != nil {
		return true // unsound, which is noticed elsewhere
	}
	if v.Kind() == reflect.Pointer {
		return !is.IsNull()
	}
	was, err := value.NewValueReflect(reflect.New(v.Type()).Interface())
	return err != nil || !value.Equals(was, is)
}
