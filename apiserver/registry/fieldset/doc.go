// Package fieldset says which fields of an object its writers own, in the form that managedFields keeps.
//
// The structured-merge library finds that out by comparing the object with what it was, field by field, into sets that are then
// joined and encoded. For an object of a Go type all but the values is known beforehand: a plan, made once a type, holds the names
// and what the schema says of them. Walking a new object by it writes the encoded set straight away.
//
//	plan := fieldset.For(reflect.TypeFor[corev1.Pod](), typed, []string{"status"})
//	fields, ok := plan.Of(pod) // {"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{...}}
//
// Walking two objects by it writes one set of what is new or another, and one of what is gone. Sets of the fields that somebody owned
// before are not decoded: they are gone through element by element, beside those two.
//
//	change, ok := plan.Compare(was, pod)
//	defer change.Release()
//	fields, ok = change.Own(before)   // who made the change owns what is new, and no more what is gone
//	others, ok := change.Left(before) // others own neither
//
// The outcome is the library's, byte for byte, or none: what is out of the ordinary (duplicates in a list, texts that JSON escapes,
// a shape that no plan knows, a set that is not written as the library would) is left to the library.
//
// Next: apiserver/registry
package fieldset
