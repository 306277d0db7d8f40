package status

import (
	"fmt"
	"reflect"
	"slices"
)

// keyed is the shape of lists whose items are told apart by a member, and patched each by itself.
type keyed struct {
	list
	item *object
	key  *member
}

func keyedOf(t reflect.Type, key string, retainKeys bool) *keyed {
	item := objectOf(t.Elem())
	item.retainKeys = retainKeys
	at := slices.IndexFunc(item.members, func(m member) bool { return m.name == key })
	if at < 0 || item.members[at].optional || item.members[at].shape != (replaced{text{}}) {
		panic(fmt.Sprintf("status: %s can't tell the items of %s apart", key, t))
	}
	item.members[at].key = true
	return &keyed{list: list{item}, item: item, key: &item.members[at]}
}

// order writes the keys of all items.
func (k *keyed) order(w *writer, v reflect.Value) {
	w.open('[')
	for _, name := range k.names(v) {
		w.open('{')
		k.writeKey(w, name)
		w.close('}')
		w.next()
	}
	w.close(']')
}

// patch writes the items that changed or are new, then those that are gone. It writes nothing when there are none.
func (k *keyed) patch(w *writer, from, to reflect.Value) {
	before, after := k.names(from), k.names(to)
	if repeats(before) || repeats(after) {
		w.unusual = true
		return
	}
	start := len(w.json)
	w.open('[')
	for i, name := range after {
		k.patchItem(w, from, slices.Index(before, name), to.Index(i))
	}
	slices.Sort(before)
	for _, name := range before {
		if !slices.Contains(after, name) {
			k.remove(w, name)
		}
	}
	if len(w.json) == start+1 {
		w.json = w.json[:start]
		return
	}
	w.close(']')
}

// patchItem patches an item that was at a place of the list before; -1: nowhere.
func (k *keyed) patchItem(w *writer, list reflect.Value, place int, item reflect.Value) {
	switch {
	case place < 0:
		k.item.write(w, item)
	case k.item.same(w, list.Index(place), item):
		return
	default:
		k.item.patch(w, list.Index(place), item)
	}
	w.next()
}

func (k *keyed) remove(w *writer, name string) {
	w.open('{')
	w.name("", "$patch")
	w.text("delete")
	w.next()
	k.writeKey(w, name)
	w.close('}')
	w.next()
}

func (k *keyed) writeKey(w *writer, name string) {
	w.name("", k.key.name)
	w.text(name)
	w.next()
}

func (k *keyed) names(v reflect.Value) []string {
	names := make([]string, v.Len())
	for i := range names {
		names[i] = v.Index(i).Field(k.key.index).String()
	}
	return names
}

func repeats(names []string) bool {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return true
		}
	}
	return false
}
