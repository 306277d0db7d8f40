package patch

import "reflect"

// mapping are maps with texts as keys.
type mapping struct{ item shape }

func (mapping) flat() bool { return false }

func (m mapping) own(v reflect.Value) bool {
	return v.IsNil() || m.renew(v, nil)
}

// renew makes the map a new one, with its own values under all keys that the change doesn't name.
func (m mapping) renew(v reflect.Value, change map[string]any) bool {
	t := v.Type()
	fresh := reflect.MakeMapWithSize(t, v.Len()+len(change))
	key, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	for all := v.MapRange(); all.Next(); {
		key.SetIterKey(all)
		if _, named := change[key.String()]; named {
			continue
		}
		item.SetIterValue(all)
		if !m.item.flat() && !m.item.own(item) {
			return false
		}
		fresh.SetMapIndex(key, item)
	}
	v.Set(fresh)
	return true
}

// read refuses nulls: whether they are entries depends on what is around.
func (m mapping) read(v reflect.Value, from any) bool {
	tree, is := from.(map[string]any)
	if !is || hasDirective(tree) {
		return false
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(tree)))
	return m.set(v, tree, false)
}

func (m mapping) merge(v reflect.Value, change any) bool {
	tree, is := change.(map[string]any)
	if !is || hasDirective(tree) {
		return false
	}
	if !isLeaf(m.item) && v.Len() > 0 {
		return false // there are no rules for the merge of a map's structs and lists
	}
	return m.renew(v, tree) && m.set(v, tree, true)
}

// set gives the map the entries of a tree. Nulls are refused, or left out.
func (m mapping) set(v reflect.Value, tree map[string]any, nulls bool) bool {
	t := v.Type()
	key, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	for name, value := range tree {
		if value == nil && nulls {
			continue
		}
		item.SetZero()
		if value == nil || !m.item.read(item, value) {
			return false
		}
		key.SetString(name)
		v.SetMapIndex(key, item)
	}
	return true
}
