package fieldset

import (
	"bytes"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Change is what became of the fields of an object, as far as an endpoint lets them be owned. It says what those who owned fields before
// own after it. It is to be released when that is said.
type Change struct {
	plan *Plan
	comparer
	is, was elements // what is now or another, and what is gone
	set     elements // what is being looked at
	out     writer
}

var changes = sync.Pool{New: func() any { return new(Change) }}

// Compare finds out how the second of two objects differs from the first. False: the library is to. The objects are pointers to structs
// of the plan's type.
func (p *Plan) Compare(was, is any) (*Change, bool) {
	a, b := reflect.ValueOf(was).Elem(), reflect.ValueOf(is).Elem()
	if a.Type() != p.typ || b.Type() != p.typ || p.whole.shape != structure || p.root.shape != structure {
		return nil, false
	}
	c := changes.Get().(*Change)
	c.plan = p
	c.now.begin()
	c.gone.begin()
	c.objects(p.root, a, b)
	if !c.read() {
		c.Release()
		return nil, false
	}
	return c, true
}

// objects compares objects. Of what is the same in both, beside the metadata, not even the unusual matters.
func (c *Change) objects(p *plan, was, is reflect.Value) {
	for i := range p.members {
		m := &p.members[i]
		if m.json != "metadata" && reflect.DeepEqual(pointer(m.of(was)), pointer(m.of(is))) {
			continue
		}
		c.member(m, was, is)
	}
}

// read takes apart what has been written. False: it is out of the ordinary.
func (c *Change) read() bool {
	if c.failed() {
		return false
	}
	c.now.buf, c.gone.buf = append(c.now.buf, '}'), append(c.gone.buf, '}')
	var now, gone bool
	c.is, now = parse(c.is[:0], c.plan.whole, c.now.buf)
	c.was, gone = parse(c.was[:0], c.plan.whole, c.gone.buf)
	return now && gone
}

// Any tells whether who made the change owns anything through it. What is gone is nobody's.
func (c *Change) Any() bool { return len(c.is) > 0 }

// Own gives what the maker of the change owns after it, who owned some fields before; nil: none. False: the library is to say it.
func (c *Change) Own(before *metav1.FieldsV1) (*metav1.FieldsV1, bool) {
	return c.after(before, c.Any())
}

// Left gives what another still owns of some fields, in the same way.
func (c *Change) Left(before *metav1.FieldsV1) (*metav1.FieldsV1, bool) {
	return c.after(before, false)
}

func (c *Change) after(before *metav1.FieldsV1, own bool) (*metav1.FieldsV1, bool) {
	text := []byte(`{}`)
	if before != nil {
		text = before.GetRawBytes()
	}
	var ok bool
	if c.set, ok = parse(c.set[:0], c.plan.whole, text); !ok {
		return nil, false
	}
	c.out.begin()
	c.out.merge(c.set, c.is, c.was, own)
	if before != nil && bytes.Equal(c.out.buf, text[:len(text)-1]) && len(c.set) > 0 {
		return before, true
	}
	return c.out.fields(), true
}

// keptElements is how many a Change keeps room for.
const keptElements = 1 << 10

// Release lets go of the objects, and of the Change.
func (c *Change) Release() {
	c.plan = nil
	for _, w := range []*writer{&c.now, &c.gone, &c.out} {
		w.forget()
	}
	for _, e := range []*elements{&c.is, &c.was, &c.set} {
		if cap(*e) > keptElements {
			*e = nil
		}
		clear((*e)[:cap(*e)])
	}
	changes.Put(c)
}
