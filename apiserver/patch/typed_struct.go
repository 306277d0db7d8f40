package patch

import "reflect"

// structure are structs, with the fields of those that are inlined. Once it is found to be unfit, it is foreign.
type structure struct {
	members []member
	named   map[string]int // into members
	simple  bool           // all members are flat
	unfit   bool
}

// member is a field, and how its values are merged.
type member struct {
	shape
	name      string
	index     []int
	list      *keyed // the shape, if it is one
	order     string // the directive that orders such a list
	omitempty bool   // an empty list or map isn't there
}

// member is the field of a name; nil: there is none.
func (s *structure) member(name string) *member {
	if at, known := s.named[name]; known {
		return &s.members[at]
	}
	return nil
}

func (m *member) of(v reflect.Value) reflect.Value {
	if len(m.index) == 1 {
		return v.Field(m.index[0])
	}
	return v.FieldByIndex(m.index)
}

func (m *member) own(v reflect.Value) bool {
	if m.omitempty && v.Len() == 0 {
		v.SetZero()
		return true
	}
	return m.shape.own(v)
}

func (s *structure) flat() bool { return s.simple }

func (s *structure) own(v reflect.Value) bool {
	if s.unfit {
		return false
	}
	for i := range s.members {
		if m := &s.members[i]; !m.flat() && !m.own(m.of(v)) {
			return false
		}
	}
	return true
}

func (s *structure) read(v reflect.Value, from any) bool {
	tree, is := from.(map[string]any)
	if !is || s.unfit {
		return false
	}
	v.SetZero()
	for name, value := range tree {
		m := s.member(name)
		if m == nil || value != nil && !m.read(m.of(v), value) {
			return false
		}
	}
	return true
}

func (s *structure) merge(v reflect.Value, change any) bool {
	tree, is := change.(map[string]any)
	return is && s.mergeTouched(v, tree, nil)
}

// mergeTouched merges all names of the change. Of the other fields only those that are touched are made the value's own.
func (s *structure) mergeTouched(v reflect.Value, change map[string]any, touched touched) bool {
	if s.unfit {
		return false
	}
	used := 0
	for i := range s.members {
		m := &s.members[i]
		if touched != nil && !touched[m.index[0]] {
			continue
		}
		n, ok := m.apply(m.of(v), change)
		if !ok {
			return false
		}
		used += n
	}
	return used == len(change)
}

// apply does to a field what the change says of it. It tells how many names of the change that took.
func (m *member) apply(v reflect.Value, change map[string]any) (used int, ok bool) {
	value, named := change[m.name]
	if m.list != nil {
		if order, ordered := change[m.order]; ordered {
			return m.applyOrdered(v, value, named, order)
		}
	}
	switch {
	case !named:
		return 0, m.flat() || m.own(v)
	case value == nil:
		v.SetZero()
		return 1, true
	default:
		return 1, m.merge(v, value)
	}
}

func (m *member) applyOrdered(v reflect.Value, value any, named bool, order any) (used int, ok bool) {
	if !named {
		return 1, m.list.reorder(v, order)
	}
	return 2, m.list.mergeOrdered(v, value, order)
}

// pointer are pointers to what is neither a list, a map, nor another pointer.
type pointer struct{ to shape }

func (pointer) flat() bool { return false }

func (p pointer) own(v reflect.Value) bool {
	if v.IsNil() {
		return true
	}
	p.renew(v)
	if m, is := p.to.(moment); is && m.time(v.Elem()).IsZero() {
		v.SetZero() // a tree has no zero time
		return true
	}
	return p.to.own(v.Elem())
}

func (p pointer) read(v reflect.Value, from any) bool {
	v.Set(reflect.New(v.Type().Elem()))
	return p.to.read(v.Elem(), from)
}

func (p pointer) merge(v reflect.Value, change any) bool {
	if v.IsNil() {
		return p.read(v, change)
	}
	p.renew(v)
	return p.to.merge(v.Elem(), change)
}

// renew lets the pointer point at a shallow copy.
func (pointer) renew(v reflect.Value) {
	fresh := reflect.New(v.Type().Elem())
	fresh.Elem().Set(v.Elem())
	v.Set(fresh)
}
