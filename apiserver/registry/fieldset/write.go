package fieldset

import (
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// itself is how an element says that beside what is in it, it is owned itself.
const itself = `".":{}`

// writer writes the elements of a set.
type writer struct {
	buf    []byte
	failed bool // something is out of the ordinary
	// What is being sorted, of all levels.
	texts []string
	items []item
}

var writers = sync.Pool{New: func() any { return new(writer) }}

// Of says which fields of a new object are owned: nil where none is. False: the library is to say it. The object is a pointer to a
// struct of the plan's type.
func (p *Plan) Of(obj any) (fields *metav1.FieldsV1, ok bool) {
	v := reflect.ValueOf(obj).Elem()
	if v.Type() != p.typ {
		return nil, false
	}
	w := writers.Get().(*writer)
	defer writers.Put(w)
	w.begin()
	owned := w.body(p.root, v, true)
	defer w.forget()
	if w.failed || !owned {
		return nil, !w.failed
	}
	return w.fields(), true
}

// begin begins a set.
func (w *writer) begin() {
	*w = writer{buf: append(w.buf[:0], '{'), texts: w.texts[:0], items: w.items[:0]}
}

// fields ends the set; nil: it is empty.
func (w *writer) fields() *metav1.FieldsV1 {
	if len(w.buf) == 1 {
		return nil
	}
	w.buf = append(w.buf, '}')
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes(w.buf) // a copy
	return fields
}

// What a writer keeps for the next object, at most: a large one is rare, and is not to be paid for by all that follow.
const (
	keptBytes = 64 << 10
	keptTexts = 256
	keptItems = 64
)

// forget lets go of the object: what was sorted keeps nothing of it alive.
func (w *writer) forget() {
	if cap(w.buf) > keptBytes {
		w.buf = nil
	}
	if cap(w.texts) > keptTexts {
		w.texts = nil
	}
	if cap(w.items) > keptItems {
		w.items = nil
	}
	clear(w.texts[:cap(w.texts)])
	clear(w.items[:cap(w.items)])
}

// open begins an element, and gives what end takes.
func (w *writer) open(head string) int {
	at := w.comma()
	w.buf = append(w.buf, head...)
	return at
}

// comma parts an element from the one before, if there is one.
func (w *writer) comma() int {
	at := len(w.buf)
	if w.buf[at-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	return at
}

// end closes an element if anything of it is owned, and otherwise removes it.
func (w *writer) end(at int, owned bool) {
	if owned {
		w.buf = append(w.buf, '}')
	} else {
		w.buf = w.buf[:at]
	}
}

// body writes what is in an element, and tells whether anything of it is owned. In an empty object there is either nothing in the
// value's place, or its zero, which is then told by present.
func (w *writer) body(p *plan, v reflect.Value, present bool) bool {
	if p.sound != nil && !w.sound(p, v) {
		w.failed = true
	}
	switch p.shape {
	case leaf:
		return !present || differs(v)
	case structure:
		return w.structure(p, v, present)
	case mapping, set, keyed:
		switch {
		case v.IsNil():
			return !present
		case v.Len() == 0:
			return true // is not the same as nil
		}
		if !present {
			w.buf = append(w.buf, itself...)
		}
		switch p.shape {
		case mapping:
			w.mapping(p, v)
		case set:
			w.set(v)
		default:
			w.keyed(p, v)
		}
		return true
	}
	w.failed = true
	return false
}

func (w *writer) sound(p *plan, v reflect.Value) bool {
	if !p.pointer {
		return p.sound(v)
	}
	return v.IsNil() || p.sound(v.Elem())
}

// structure writes the fields of a struct. Where its zero was present, so were the zeros of its fields, but behind a pointer there
// was nothing.
func (w *writer) structure(p *plan, v reflect.Value, present bool) bool {
	zero := present && !p.pointer
	if p.pointer {
		if v.IsNil() {
			return !present
		}
		v = v.Elem()
	}
	begin := len(w.buf)
	if !present {
		w.buf = append(w.buf, itself...)
	}
	first := len(w.buf)
	for i := range p.members {
		m := &p.members[i]
		f := m.of(v)
		if m.omitted(f) {
			continue
		}
		if m.dropped && f.IsZero() {
			continue
		}
		at := w.open(m.head)
		owned := w.body(m.plan, f, zero && m.shown)
		w.end(at, owned && !m.dropped)
	}
	if len(w.buf) > first {
		return true
	}
	w.buf = w.buf[:begin]
	return !zero
}

// mapping writes the entries of a map that has some.
func (w *writer) mapping(p *plan, v reflect.Value) {
	base := len(w.texts)
	for _, k := range w.textsOf(v) {
		w.entry(p, v, k)
	}
	w.texts = w.texts[:base]
}

// textsOf lists the keys of a map in their order, behind those of others.
func (w *writer) textsOf(v reflect.Value) []string {
	base := len(w.texts)
	if m, ok := v.Interface().(map[string]string); ok {
		for k := range m {
			w.texts = append(w.texts, k)
		}
	} else {
		for i := v.MapRange(); i.Next(); {
			w.texts = append(w.texts, i.Key().String())
		}
	}
	slices.Sort(w.texts[base:])
	return w.texts[base:]
}

// entry writes an entry of a map.
func (w *writer) entry(p *plan, v reflect.Value, key string) {
	at := w.field(key)
	w.end(at, p.item.plainLeaf() || w.body(p.item, v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key())), false))
}

// field begins the element of an entry, and gives what end takes.
func (w *writer) field(key string) int {
	w.failed = w.failed || !plain(key)
	at := w.comma()
	w.buf = append(w.buf, `"f:`...)
	w.buf = append(w.buf, key...)
	w.buf = append(w.buf, `":{`...)
	return at
}
