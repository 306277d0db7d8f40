package fieldset

import (
	"reflect"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// maxKeys is how many keys a list of a plan may have.
const maxKeys = 4

// key is one by which items of a list are told apart.
type key struct {
	name    string
	field   *name // nil: the items' Go type lacks it
	pointer bool  // to the value
	without *word // stands in for one that is missing; nil: nothing does
}

// keysOf finds the keys of a list in the Go type of its items.
func keysOf(s *schema.Schema, t reflect.Type, of *schema.List) ([]key, bool) {
	atom, ok := s.Resolve(of.ElementType)
	if !ok || atom.Map == nil || t.Kind() != reflect.Struct || len(of.Keys) > maxKeys || value.TypeReflectEntryOf(t).CanConvertToUnstructured() {
		return nil, false
	}
	names, ok := namesOf(t)
	if !ok {
		return nil, false
	}
	var out []key
	for _, called := range slices.Sorted(slices.Values(of.Keys)) {
		k := key{name: called}
		if !plain(called) || len(out) > 0 && out[len(out)-1].name == called {
			return nil, false
		}
		if i := slices.IndexFunc(names, func(n name) bool { return n.json == called }); i >= 0 {
			typ := names[i].typ
			if typ.Kind() == reflect.Pointer {
				k.pointer, typ = true, typ.Elem()
			}
			if !wordKind(typ.Kind()) || value.TypeReflectEntryOf(typ).CanConvertToUnstructured() {
				return nil, false
			}
			k.field = &names[i]
		}
		if f, ok := atom.Map.FindField(called); ok && f.Default != nil {
			w, ok := wordOf(f.Default)
			if !ok {
				return nil, false
			}
			k.without = &w
		}
		out = append(out, k)
	}
	return out, true
}

// value is the key's in an item; the zero Value where it is left out.
func (k *key) value(v reflect.Value) reflect.Value {
	if k.field == nil {
		return reflect.Value{}
	}
	f := k.field.of(v)
	if k.field.omitted(f) {
		return reflect.Value{}
	}
	return f
}
