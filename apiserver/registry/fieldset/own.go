package fieldset

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// own is a Go type that writes its JSON itself.
type own struct {
	anything bool // rather than a text, a number or null
	sound    soundness
}

// ownJSON are the types that do so of which a plan knows what they write. Of others it is ignorant.
var ownJSON = map[reflect.Type]own{
	reflect.TypeFor[metav1.Time]():          {},
	reflect.TypeFor[metav1.MicroTime]():     {},
	reflect.TypeFor[metav1.Duration]():      {},
	reflect.TypeFor[resource.Quantity]():    {},
	reflect.TypeFor[intstr.IntOrString]():   {sound: soundIntOrString},
	reflect.TypeFor[runtime.RawExtension](): {anything: true, sound: soundExtension},
}

// fits tells whether a schema has the values as leaves, whatever they are.
func (o own) fits(a schema.Atom) bool {
	if onlyScalar(a) {
		return !o.anything && (*a.Scalar == schema.String || *a.Scalar == schema.Untyped)
	}
	return a.Scalar != nil && *a.Scalar == schema.Untyped && a.Map != nil && a.Map.ElementRelationship == schema.Atomic &&
		a.List != nil && a.List.ElementRelationship == schema.Atomic
}

// soundIntOrString: in protobuf it may come as neither.
func soundIntOrString(v reflect.Value) bool {
	kind := intstr.Type(v.FieldByName("Type").Int())
	return kind == intstr.Int || kind == intstr.String
}

// soundExtension: in protobuf it may come as something else than JSON.
func soundExtension(v reflect.Value) bool {
	if !v.CanAddr() {
		return false
	}
	_, err := value.NewValueReflect(v.Addr().Interface())
	return err == nil
}
