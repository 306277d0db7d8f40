package fieldset

import (
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// name is a field of a struct as JSON has it.
type name struct {
	json      string
	at        []int // as reflect.Value.FieldByIndex takes it
	typ       reflect.Type
	omitEmpty bool
	omitZero  func(reflect.Value) bool // nil: its zero is written
}

// namesOf lists the fields of a struct, those of embedded structs among them, in the order of their names. False: the struct has
// something that Go's JSON treats in a way of its own.
func namesOf(t reflect.Type) ([]name, bool) {
	var out []name
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		options := strings.Split(tag, ",")
		if f.Anonymous && options[0] == "" {
			if f.Type.Kind() != reflect.Struct {
				return nil, false
			}
			inner, ok := namesOf(f.Type)
			if !ok {
				return nil, false
			}
			for _, n := range inner {
				n.at = slices.Concat(f.Index, n.at)
				out = append(out, n)
			}
			continue
		}
		n := name{json: options[0], at: f.Index, typ: f.Type, omitEmpty: slices.Contains(options[1:], "omitempty")}
		if n.json == "" {
			n.json = f.Name
		}
		if slices.Contains(options[1:], "omitzero") {
			n.omitZero = value.OmitZeroFunc(f.Type)
		}
		if !f.IsExported() || !plain(n.json) {
			return nil, false
		}
		out = append(out, n)
	}
	slices.SortStableFunc(out, func(a, b name) int { return strings.Compare(a.json, b.json) })
	for i := range out[min(1, len(out)):] {
		if out[i].json == out[i+1].json {
			return nil, false
		}
	}
	return out, true
}

// of is the field's value in a struct.
func (n *name) of(v reflect.Value) reflect.Value {
	for _, i := range n.at {
		v = v.Field(i)
	}
	return v
}

// omitted tells whether JSON leaves the value out.
func (n *name) omitted(v reflect.Value) bool {
	return n.omitEmpty && empty(v) || n.omitZero != nil && n.omitZero(v)
}

// empty is what omitempty means: never true of a struct.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return v.IsNil()
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
