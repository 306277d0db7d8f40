package status

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type text struct{}

func (text) write(w *writer, v reflect.Value) { w.text(v.String()) }

func (text) same(w *writer, a, b reflect.Value) bool {
	if a.String() == b.String() {
		return true
	}
	w.check(a.String())
	w.check(b.String())
	return false
}

type boolean struct{}

func (boolean) write(w *writer, v reflect.Value)        { w.json = strconv.AppendBool(w.json, v.Bool()) }
func (boolean) same(_ *writer, a, b reflect.Value) bool { return a.Bool() == b.Bool() }

type number struct{}

func (number) write(w *writer, v reflect.Value)        { w.json = strconv.AppendInt(w.json, v.Int(), 10) }
func (number) same(_ *writer, a, b reflect.Value) bool { return a.Int() == b.Int() }

// moment is a time, of which whole seconds are written.
type moment struct{}

func (moment) write(w *writer, v reflect.Value) {
	t := v.Addr().Interface().(*metav1.Time)
	if t.IsZero() {
		w.null()
		return
	}
	w.json = append(t.UTC().AppendFormat(append(w.json, '"'), time.RFC3339), '"')
}

func (moment) same(_ *writer, a, b reflect.Value) bool {
	s, t := a.Addr().Interface().(*metav1.Time), b.Addr().Interface().(*metav1.Time)
	return s.Unix() == t.Unix() && s.IsZero() == t.IsZero()
}

// quantity is an amount. Amounts are compared as written: 1Ki is not 1024.
type quantity struct{}

func (quantity) write(w *writer, v reflect.Value) { w.text(amount(v.Interface().(resource.Quantity))) }

func (quantity) same(_ *writer, a, b reflect.Value) bool {
	return amount(a.Interface().(resource.Quantity)) == amount(b.Interface().(resource.Quantity))
}

// amount takes a copy: the original would remember its text, and may be shared.
func amount(q resource.Quantity) string { return q.String() }

// resources is the shape of amounts by name, each patched by itself.
type resources struct{}

func (resources) write(w *writer, v reflect.Value) {
	if v.IsNil() {
		w.null()
		return
	}
	list := v.Interface().(v1.ResourceList)
	w.open('{')
	for _, name := range slices.Sorted(maps.Keys(list)) {
		w.name("", string(name))
		w.text(amount(list[name]))
		w.next()
	}
	w.close('}')
}

func (resources) same(w *writer, a, b reflect.Value) bool {
	before, after := a.Interface().(v1.ResourceList), b.Interface().(v1.ResourceList)
	sameAmount := func(a, b resource.Quantity) bool { return amount(a) == amount(b) }
	if a.IsNil() == b.IsNil() && maps.EqualFunc(before, after, sameAmount) {
		return true
	}
	for _, list := range []v1.ResourceList{before, after} {
		for name := range list {
			w.check(string(name))
		}
	}
	return false
}

func (r resources) patch(w *writer, from, to reflect.Value) {
	if from.IsNil() || to.IsNil() {
		r.write(w, to)
		return
	}
	before, after := from.Interface().(v1.ResourceList), to.Interface().(v1.ResourceList)
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	w.open('{')
	for _, name := range slices.Compact(names) {
		was, had := before[name]
		is, has := after[name]
		switch {
		case had && has && amount(was) == amount(is):
			continue
		case has:
			w.name("", string(name))
			w.text(amount(is))
		default:
			w.name("", string(name))
			w.null()
		}
		w.next()
	}
	w.close('}')
}

// list is a list that is written whole.
type list struct{ item shape }

func (l list) write(w *writer, v reflect.Value) {
	if v.IsNil() {
		w.null()
		return
	}
	w.open('[')
	for i := range v.Len() {
		l.item.write(w, v.Index(i))
		w.next()
	}
	w.close(']')
}

func (l list) same(w *writer, a, b reflect.Value) bool {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		if !l.item.same(w, a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}
