package status

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// object is the shape of structs: each member is patched by itself.
type object struct {
	members []member // by name, as the library writes them
	// retainKeys: a patch names all members that stay.
	retainKeys bool
}

// member is a field of a struct.
type member struct {
	name     string
	index    int
	shape    shape
	optional bool // not written when empty
	// key: it tells of which item of a list a patch is, and is in all of them.
	key bool
}

func objectOf(t reflect.Type) *object {
	o := &object{}
	for field := range t.Fields() {
		o.members = append(o.members, memberOf(field))
	}
	slices.SortFunc(o.members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return o
}

func memberOf(field reflect.StructField) member {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" || options != "" && options != "omitempty" {
		panic(fmt.Sprintf("status: field %s is written in an unknown way", field.Name))
	}
	m := member{name: name, index: field.Index[0], optional: options != "" && field.Type.Kind() != reflect.Struct}
	switch strategy := field.Tag.Get("patchStrategy"); strategy {
	case "":
		m.shape = shapeOf(field.Type)
	case "merge", "merge,retainKeys":
		m.shape = keyedOf(field.Type, field.Tag.Get("patchMergeKey"), strategy != "merge")
	default:
		panic(fmt.Sprintf("status: field %s is patched in an unknown way", field.Name))
	}
	return m
}

func (o *object) write(w *writer, v reflect.Value) {
	w.open('{')
	for i := range o.members {
		if m := &o.members[i]; m.in(v) {
			w.name("", m.name)
			m.shape.write(w, v.Field(m.index))
			w.next()
		}
	}
	w.close('}')
}

func (o *object) same(w *writer, a, b reflect.Value) bool {
	for i := range o.members {
		if !o.members[i].same(w, a, b) {
			return false
		}
	}
	return true
}

// patch writes directives first: their names begin with a dollar sign, which sorts before all others.
func (o *object) patch(w *writer, from, to reflect.Value) {
	w.open('{')
	if o.retainKeys {
		o.retain(w, to)
	}
	for i := range o.members {
		if m := &o.members[i]; m.in(from) && m.in(to) {
			m.order(w, from, to)
		}
	}
	for i := range o.members {
		o.members[i].patch(w, from, to)
	}
	w.close('}')
}

func (o *object) retain(w *writer, v reflect.Value) {
	w.name("", "$retainKeys")
	w.open('[')
	for i := range o.members {
		if m := &o.members[i]; m.in(v) {
			w.text(m.name)
			w.next()
		}
	}
	w.close(']')
	w.next()
}

// in tells whether the member is written of a struct.
func (m *member) in(v reflect.Value) bool {
	if !m.optional {
		return true
	}
	switch v = v.Field(m.index); v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() > 0
	default:
		return !v.IsZero()
	}
}

func (m *member) same(w *writer, a, b reflect.Value) bool {
	in := m.in(a)
	return in == m.in(b) && (!in || m.shape.same(w, a.Field(m.index), b.Field(m.index)))
}

// order writes the order of a list's items beside the list.
func (m *member) order(w *writer, from, to reflect.Value) {
	list, ok := m.shape.(*keyed)
	if !ok || m.same(w, from, to) {
		return
	}
	w.name("$setElementOrder/", m.name)
	list.order(w, to.Field(m.index))
	w.next()
}

func (m *member) patch(w *writer, from, to reflect.Value) {
	if !m.key && m.same(w, from, to) {
		return
	}
	start := len(w.json)
	w.name("", m.name)
	named := len(w.json)
	before, after := from.Field(m.index), to.Field(m.index)
	switch {
	case !m.in(to):
		w.null()
	case m.key || !m.in(from):
		m.shape.write(w, after)
	default:
		m.shape.patch(w, before, after)
	}
	if len(w.json) == named { // a list of which only the order is another
		w.json = w.json[:start]
		return
	}
	w.next()
}
