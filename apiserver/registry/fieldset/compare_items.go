package fieldset

import (
	"maps"
	"reflect"
	"strings"
)

// both goes through two sorted lists at once, and says of each item at which place of either list it is; -1: it is not in that one.
func both[T any](a, b []T, compare func(a, b *T) int, each func(i, j int)) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch order := compare(&a[i], &b[j]); {
		case order < 0:
			each(i, -1)
			i++
		case order > 0:
			each(-1, j)
			j++
		default:
			each(i, j)
			i++
			j++
		}
	}
	for ; i < len(a); i++ {
		each(i, -1)
	}
	for ; j < len(b); j++ {
		each(-1, j)
	}
}

// mapping writes what differs in two maps that have entries.
func (c *comparer) mapping(p *plan, was, is reflect.Value) {
	if p.item.plainLeaf() && sameMaps(was, is) {
		return
	}
	m, n := len(c.gone.texts), len(c.now.texts)
	a, b := c.gone.textsOf(was), c.now.textsOf(is)
	both(a, b, func(a, b *string) int { return strings.Compare(*a, *b) }, func(i, j int) {
		switch {
		case j < 0:
			c.gone.entry(p, was, a[i])
		case i < 0:
			c.now.entry(p, is, b[j])
		default:
			c.entry(p, was, is, b[j])
		}
	})
	c.gone.texts, c.now.texts = c.gone.texts[:m], c.now.texts[:n]
}

// sameMaps tells of most maps that are the same that they are.
func sameMaps(was, is reflect.Value) bool {
	if a, ok := was.Interface().(map[string]string); ok {
		return maps.Equal(a, is.Interface().(map[string]string))
	}
	return reflect.DeepEqual(was.Interface(), is.Interface())
}

// entry writes what differs in an entry that two maps have both.
func (c *comparer) entry(p *plan, was, is reflect.Value, key string) {
	k := reflect.ValueOf(key).Convert(is.Type().Key())
	was, is = was.MapIndex(k), is.MapIndex(k)
	if p.item.plainLeaf() {
		if !same(was, is) {
			c.now.end(c.now.field(key), true)
		}
		return
	}
	n, g := c.now.field(key), c.gone.field(key)
	differs := c.body(p.item, was, is)
	c.now.end(n, differs.now)
	c.gone.end(g, differs.gone)
}

// set writes what differs in two sets that have items.
func (c *comparer) set(was, is reflect.Value) {
	m, n := len(c.gone.items), len(c.now.items)
	a, b := c.gone.valuesOf(was), c.now.valuesOf(is)
	both(a, b, (*item).compare, func(i, j int) {
		switch {
		case j < 0:
			c.gone.value(a[i].words[0])
		case i < 0:
			c.now.value(b[j].words[0])
		}
	})
	c.gone.items, c.now.items = c.gone.items[:m], c.now.items[:n]
}

// keyed writes what differs in two keyed lists that have items.
func (c *comparer) keyed(p *plan, was, is reflect.Value) {
	m, n := len(c.gone.items), len(c.now.items)
	a, b := c.gone.itemsOf(p, was), c.now.itemsOf(p, is)
	both(a, b, (*item).compare, func(i, j int) {
		switch {
		case j < 0:
			c.gone.item(p, was, &a[i])
		case i < 0:
			c.now.item(p, is, &b[j])
		default:
			x, y := c.now.head(&b[j]), c.gone.head(&a[i])
			differs := c.body(p.item, was.Index(a[i].at), is.Index(b[j].at))
			c.now.end(x, differs.now)
			c.gone.end(y, differs.gone)
		}
	})
	c.gone.items, c.now.items = c.gone.items[:m], c.now.items[:n]
}
