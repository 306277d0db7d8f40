package patch

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// shapes are those of all types of objects that were patched.
var shapes sync.Map // of shape, by reflect.Type

// shapeOf gives the shape of a type of objects, which is made once.
func shapeOf(t reflect.Type) shape {
	if known, ok := shapes.Load(t); ok {
		return known.(shape)
	}
	made := maker{}.shape(t)
	shapes.Store(t, made)
	return made
}

// maker makes shapes. Types contain themselves, so a struct's shape is known before it is complete; none is given away before.
type maker map[reflect.Type]*structure

func (mk maker) shape(t reflect.Type) shape {
	if leaf, is := leaves[t]; is {
		return leaf
	}
	if entry := value.TypeReflectEntryOf(t); t.Kind() != reflect.Pointer && (entry.CanConvertToUnstructured() || entry.CanConvertFromUnstructured()) {
		return foreign{}
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Float32, reflect.Float64:
		return scalar{}
	case reflect.Pointer:
		return mk.pointer(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return octets{}
		}
		return list{item: mk.shape(t.Elem())}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return mapping{item: mk.shape(t.Elem())}
		}
	case reflect.Struct:
		return mk.structure(t)
	}
	return foreign{}
}

func (mk maker) pointer(t reflect.Type) shape {
	switch t.Elem().Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return foreign{}
	}
	return pointer{to: mk.shape(t.Elem())}
}

func (mk maker) structure(t reflect.Type) shape {
	if known := mk[t]; known != nil {
		return known
	}
	s := &structure{named: map[string]int{}}
	mk[t] = s
	s.unfit = !mk.fill(s, t, nil)
	s.simple = !s.unfit && !slices.ContainsFunc(s.members, func(m member) bool { return !m.flat() })
	return s
}

// fill gives a structure the fields of a type, which stands at an index of the structure's. False: there is one that isn't as usual.
func (mk maker) fill(s *structure, t reflect.Type, index []int) bool {
	for i := range t.NumField() {
		field := t.Field(i)
		at := append(slices.Clone(index), i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous && mk.inlined(field.Type) {
			if !mk.fill(s, field.Type, at) {
				return false
			}
			continue
		}
		if _, twice := s.named[name]; twice || name == "" || name == "-" || !field.IsExported() {
			return false
		}
		s.named[name] = len(s.members)
		s.members = append(s.members, mk.member(field, name, options, at))
	}
	return true
}

func (mk maker) inlined(t reflect.Type) bool {
	_, is := mk.shape(t).(*structure)
	return is
}

func (mk maker) member(field reflect.StructField, name, options string, index []int) member {
	m := member{shape: mk.shape(field.Type), name: name, index: index}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "inline":
		case "omitempty":
			m.omitempty = field.Type.Kind() == reflect.Slice || field.Type.Kind() == reflect.Map
		case "omitzero":
			if _, is := m.shape.(moment); !is {
				m.shape = foreign{}
			}
		default:
			m.shape = foreign{}
		}
	}
	m.strategy(field)
	return m
}

// strategy gives a field the shape that its tags ask for.
func (m *member) strategy(field reflect.StructField) {
	adds := false
	for s := range strings.SplitSeq(field.Tag.Get("patchStrategy"), ",") {
		switch s {
		case "", "retainKeys": // which is a matter of directives
		case "merge":
			adds = true
		default:
			m.shape = foreign{}
		}
	}
	if l, is := m.shape.(list); is && adds {
		m.merges(l, field.Tag.Get("patchMergeKey"))
	}
}

// merges makes a list one to which changes add: scalars, or structs with a key that is a text or a number.
func (m *member) merges(l list, name string) {
	m.shape = foreign{}
	switch item := l.item.(type) {
	case scalar:
		if m.omitempty {
			m.shape = set{list: l}
		}
	case *structure:
		key := item.member(name)
		if key == nil || key.shape != (scalar{}) {
			return
		}
		m.list = &keyed{list: l, name: name, key: key, omitempty: m.omitempty}
		m.shape, m.order = m.list, "$setElementOrder/"+m.name
	}
}
