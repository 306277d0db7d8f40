package fieldset

import "reflect"

// comparer walks two values of one type at once. It writes the fields of the second that are new or another to one set, and those of the
// first that are no more to another.
type comparer struct {
	now, gone writer
}

// in tells whether a value differs as such from what was in its place: in what is now, and in what is gone.
type in struct{ now, gone bool }

func (c *comparer) failed() bool { return c.now.failed || c.gone.failed }

// body writes what differs in two values which are there both.
func (c *comparer) body(p *plan, was, is reflect.Value) in {
	if p.sound != nil && (!c.now.sound(p, was) || !c.now.sound(p, is)) {
		c.now.failed = true
		return in{}
	}
	switch p.shape {
	case leaf:
		return in{now: !same(was, is)}
	case structure:
		return c.structure(p, was, is)
	case mapping, set, keyed:
		return c.collection(p, was, is)
	}
	c.now.failed = true
	return in{}
}

// structure writes what differs in two structs. None is null, which is another than an empty one, but has no more fields.
func (c *comparer) structure(p *plan, was, is reflect.Value) in {
	if p.pointer {
		switch {
		case was.IsNil():
			return in{now: c.now.structure(p, is, true)}
		case is.IsNil():
			return c.vanished(p, was)
		}
		was, is = was.Elem(), is.Elem()
	}
	n, g := len(c.now.buf), len(c.gone.buf)
	for i := range p.members {
		c.member(&p.members[i], was, is)
	}
	return in{now: len(c.now.buf) > n, gone: len(c.gone.buf) > g}
}

// vanished writes the fields of a struct in whose place is null. If it has none, it is the place that differs.
func (c *comparer) vanished(p *plan, was reflect.Value) in {
	g := len(c.gone.buf)
	c.gone.structure(p, was, true)
	gone := len(c.gone.buf) > g
	return in{now: !gone, gone: gone}
}

// member writes what differs in a field of two structs.
func (c *comparer) member(m *member, was, is reflect.Value) {
	was, is = m.of(was), m.of(is)
	had, has := !m.omitted(was), !m.omitted(is)
	switch {
	case !had && !has:
	case !had:
		at := c.now.open(m.head)
		c.now.end(at, c.now.body(m.plan, is, false) && !m.dropped)
	case !has:
		at := c.gone.open(m.head)
		c.gone.end(at, c.gone.body(m.plan, was, false) && !m.dropped)
	case m.plan.plainLeaf():
		if !same(was, is) && !m.dropped {
			c.now.end(c.now.open(m.head), true)
		}
	default:
		n, g := c.now.open(m.head), c.gone.open(m.head)
		differs := c.body(m.plan, was, is)
		c.now.end(n, differs.now && !m.dropped)
		c.gone.end(g, differs.gone && !m.dropped)
	}
}

// collection writes what differs in two maps or lists. Null is another than an empty one, but has no more items.
func (c *comparer) collection(p *plan, was, is reflect.Value) in {
	switch {
	case was.Len() == 0 && is.Len() == 0:
		return in{now: was.IsNil() != is.IsNil()}
	case was.Len() == 0:
		return in{now: c.now.body(p, is, true)}
	case is.Len() == 0:
		return in{gone: c.gone.body(p, was, true)}
	}
	n, g := len(c.now.buf), len(c.gone.buf)
	switch p.shape {
	case mapping:
		c.mapping(p, was, is)
	case set:
		c.set(was, is)
	default:
		c.keyed(p, was, is)
	}
	return in{now: len(c.now.buf) > n, gone: len(c.gone.buf) > g}
}
