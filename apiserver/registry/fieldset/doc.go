// Package fieldset says which fields of a new object its creator owns, in the form that managedFields keeps.
//
// The structured-merge library finds that out by comparing the object with an empty one, field by field, into a set that is then
// encoded. For an object of a Go type all but the values is known beforehand: a plan, made once a type, holds the names and what the
// schema says of them, and walking an object by it writes the encoded set straight away.
//
//	plan := fieldset.For(reflect.TypeFor[corev1.Pod](), typed, []string{"status"})
//	fields, ok := plan.Of(pod) // {"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{...}}
//
// The outcome is the library's, byte for byte, or none: what is out of the ordinary (duplicates in a list, texts that JSON escapes,
// a shape that no plan knows) is left to the library.
//
// Next: apiserver/registry
package fieldset
