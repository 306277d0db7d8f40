package patch

import "reflect"

// keyed are lists of structs, each of which is merged with the item of the change that has the same key.
type keyed struct {
	list
	name      string  // of the key
	key       *member // of the items
	omitempty bool    // an empty list isn't there
}

func (k *keyed) merge(v reflect.Value, change any) bool {
	edit, ok := k.edit(change)
	if !ok || k.empty(v) {
		return false
	}
	if v.Len() == 0 {
		return k.write(v, edit.items)
	}
	before, ok := k.elements(v)
	return ok && k.write(v, edit.merged(before, nil))
}

// mergeOrdered merges a list of which the change also tells the order.
func (k *keyed) mergeOrdered(v reflect.Value, change, directive any) bool {
	order, ok := k.order(directive)
	if !ok {
		return false
	}
	edit, ok := k.edit(change)
	if !ok || !follow(edit.items, order) {
		return false
	}
	if v.Len() == 0 {
		return k.omitempty && len(edit.items)+len(edit.deleted) > 0 && k.write(v, arrange(edit.items, order, nil))
	}
	before, ok := k.elements(v)
	return ok && k.write(v, edit.merged(before, order))
}

// reorder is for a change that tells nothing but the order.
func (k *keyed) reorder(v reflect.Value, directive any) bool {
	order, ok := k.order(directive)
	if !ok {
		return false
	}
	if v.Len() == 0 {
		v.SetZero()
		return k.omitempty
	}
	before, ok := k.elements(v)
	return ok && k.write(v, arrange(before, order, before))
}

// empty says whether the list is there, without items: the rules for it are others than for one that isn't there, and it is rare.
func (k *keyed) empty(v reflect.Value) bool {
	return v.Len() == 0 && !k.omitempty && !v.IsNil()
}

// elements are the items of a list. False: not each has a key of its own, or there are too many.
func (k *keyed) elements(v reflect.Value) ([]element, bool) {
	if v.Len() > longest {
		return nil, false
	}
	elements := make([]element, 0, v.Len())
	for i := range v.Len() {
		key := keyOf(k.key.of(v.Index(i)))
		if key == (elementKey{}) || find(elements, key) >= 0 {
			return nil, false
		}
		elements = append(elements, element{key: key, before: i})
	}
	return elements, true
}

// edit is what a change says of the list.
func (k *keyed) edit(change any) (edit listEdit, ok bool) {
	items, is := change.([]any)
	if !is || len(items) > longest {
		return edit, false
	}
	edit.items = make([]element, 0, len(items))
	for _, item := range items {
		tree, _ := item.(map[string]any)
		key := keyIn(tree[k.name])
		if key == (elementKey{}) || find(edit.items, key) >= 0 || find(edit.deleted, key) >= 0 {
			return edit, false
		}
		e := element{key: key, before: isNew, change: tree}
		switch directive, is := tree["$patch"]; {
		case !is:
			edit.items = append(edit.items, e)
		case directive == "delete" && len(tree) == 2:
			edit.deleted = append(edit.deleted, e)
		default:
			return edit, false
		}
	}
	return edit, true
}

// order is what a directive says of the list's order.
func (k *keyed) order(directive any) ([]element, bool) {
	items, is := directive.([]any)
	if !is || len(items) > longest {
		return nil, false
	}
	order := make([]element, 0, len(items))
	for _, item := range items {
		tree, _ := item.(map[string]any)
		key := keyIn(tree[k.name])
		if key == (elementKey{}) || len(tree) != 1 || find(order, key) >= 0 {
			return nil, false
		}
		order = append(order, element{key: key})
	}
	return order, true
}

// write makes the list one of the elements.
func (k *keyed) write(v reflect.Value, elements []element) bool {
	fresh := reflect.MakeSlice(v.Type(), len(elements), len(elements))
	for i, e := range elements {
		if !k.writeOne(fresh.Index(i), v, e) {
			return false
		}
	}
	v.Set(fresh)
	return true
}

func (k *keyed) writeOne(to, before reflect.Value, e element) bool {
	if e.before == isNew {
		return k.item.read(to, e.change)
	}
	to.Set(before.Index(e.before))
	if e.change == nil {
		return k.item.flat() || k.item.own(to)
	}
	return k.item.merge(to, e.change)
}

// keyOf is the key that stands in a field; none where it is no key.
func keyOf(v reflect.Value) elementKey {
	switch {
	case v.Kind() == reflect.String:
		return elementKey{text: v.String()}
	case v.CanInt():
		return elementKey{number: v.Int()}
	}
	return elementKey{}
}

// keyIn is the key that stands in a change; none where it is no key.
func keyIn(value any) elementKey {
	switch value := value.(type) {
	case string:
		return elementKey{text: value}
	case int64:
		return elementKey{number: value}
	}
	return elementKey{}
}
