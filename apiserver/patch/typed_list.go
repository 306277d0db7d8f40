package patch

import "reflect"

// list are lists that a change replaces.
type list struct{ item shape }

func (list) flat() bool { return false }

func (l list) own(v reflect.Value) bool {
	if v.IsNil() {
		return true
	}
	fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(fresh, v)
	v.Set(fresh)
	if l.item.flat() {
		return true
	}
	for i := range v.Len() {
		if !l.item.own(v.Index(i)) {
			return false
		}
	}
	return true
}

func (l list) read(v reflect.Value, from any) bool {
	items, is := from.([]any)
	if !is {
		return false
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		if item == nil || !l.item.read(v.Index(i), item) {
			return false
		}
	}
	return true
}

func (l list) merge(v reflect.Value, change any) bool { return l.read(v, change) }

// set are lists of scalars that a change adds to. Only one that isn't there yet is merged here.
type set struct{ list }

func (s set) merge(v reflect.Value, change any) bool {
	return v.Len() == 0 && s.list.merge(v, change)
}
