package fieldset

import (
	"reflect"
	"slices"
	"strings"
)

// item is one of a keyed list: where it is, and the words that it has of the list's keys.
type item struct {
	at    int
	words [maxKeys]word
	names [maxKeys]string
	n     int
}

// compare orders items by the names and words of their keys.
func (a *item) compare(b *item) int {
	for i := range min(a.n, b.n) {
		if c := strings.Compare(a.names[i], b.names[i]); c != 0 {
			return c
		}
		if c := a.words[i].compare(b.words[i]); c != 0 {
			return c
		}
	}
	return a.n - b.n
}

// sorted orders the items from base on. Two that are the same are out of the ordinary.
func (w *writer) sorted(base int) []item {
	items := w.items[base:]
	slices.SortFunc(items, func(a, b item) int { return a.compare(&b) })
	for i := range items[min(1, len(items)):] {
		if items[i].compare(&items[i+1]) == 0 {
			w.failed = true
		}
	}
	return items
}

// keyed writes the items of a list that has some.
func (w *writer) keyed(p *plan, v reflect.Value) {
	base := len(w.items)
	items := w.itemsOf(p, v)
	for i := range items {
		w.item(p, v, &items[i])
	}
	w.items = w.items[:base]
}

// itemsOf lists the items of a keyed list in their order, behind those of others. None: one of them has no keys.
func (w *writer) itemsOf(p *plan, v reflect.Value) []item {
	base := len(w.items)
	for i := range v.Len() {
		w.items = append(w.items, item{at: i})
		if !w.items[len(w.items)-1].read(p.keys, v.Index(i)) {
			w.failed = true
			return nil
		}
	}
	return w.sorted(base)
}

// item writes an item of a keyed list.
func (w *writer) item(p *plan, v reflect.Value, of *item) {
	at := w.head(of)
	w.end(at, w.body(p.item, v.Index(of.at), false))
}

// read finds the words of an item. False: it has none, or a null.
func (a *item) read(keys []key, v reflect.Value) bool {
	for i := range keys {
		k := &keys[i]
		var word word
		switch f := k.value(v); {
		case f.IsValid() && k.pointer:
			if f.IsNil() {
				return false
			}
			word = read(f.Elem())
		case f.IsValid():
			word = read(f)
		case k.without != nil:
			word = *k.without
		default:
			continue
		}
		a.names[a.n], a.words[a.n] = k.name, word
		a.n++
	}
	return a.n > 0
}

// head begins the element of an item, "k:{\"name\":\"x\"}":{, and gives what end takes.
func (w *writer) head(a *item) int {
	at := w.comma()
	w.buf = append(w.buf, `"k:{`...)
	for i := range a.n {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = append(w.buf, `\"`...)
		w.buf = append(w.buf, a.names[i]...)
		w.buf = append(w.buf, `\":`...)
		w.word(a.words[i])
	}
	w.buf = append(w.buf, `}":{`...)
	return at
}

func (w *writer) word(of word) {
	buf, ok := of.append(w.buf)
	w.buf = buf
	w.failed = w.failed || !ok
}

// set writes the values of a list that has some.
func (w *writer) set(v reflect.Value) {
	base := len(w.items)
	for _, i := range w.valuesOf(v) {
		w.value(i.words[0])
	}
	w.items = w.items[:base]
}

// valuesOf lists the values of a set in their order, behind those of others.
func (w *writer) valuesOf(v reflect.Value) []item {
	base := len(w.items)
	for i := range v.Len() {
		w.items = append(w.items, item{words: [maxKeys]word{read(v.Index(i))}, n: 1})
	}
	return w.sorted(base)
}

// value writes a value of a set.
func (w *writer) value(of word) {
	w.comma()
	w.buf = append(w.buf, `"v:`...)
	w.word(of)
	w.buf = append(w.buf, `":{}`...)
}
