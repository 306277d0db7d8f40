package fieldset

import "bytes"

// element is one of an encoded set.
type element struct {
	text []byte // the whole of it: "f:x":{".":{},"f:y":{}}
	head int    // how much of the text begins it: "f:x":{
	self bool   // it is owned itself
	size int    // how many elements it is, with those in it
}

// name tells an element from others beside it: f:x
func (e *element) name() []byte { return e.text[1 : e.head-len(`":{`)] }

// elements are those beside each other, each followed by those in it.
type elements []element

// inside are those in the first.
func (e elements) inside() elements {
	if len(e) == 0 {
		return nil
	}
	return e[1:e[0].size]
}

// take gives the first, with those in it, if it has the name, and what comes after. Otherwise it gives none, and all.
func (e elements) take(name []byte) (first, rest elements) {
	if len(e) == 0 || !bytes.Equal(e[0].name(), name) {
		return nil, e
	}
	return e[:e[0].size], e[e[0].size:]
}

// parser takes an encoded set apart. It is content with what the library would write in just the same way, and leave as it is.
type parser struct {
	text   []byte // what is left
	out    elements
	failed bool
}

// parse takes a set of the fields of an object apart, after other elements.
func parse(into elements, p *plan, text []byte) (elements, bool) {
	r := &parser{text: text, out: into}
	r.want(`{`)
	if !r.skip(`}`) {
		r.beside(p)
	}
	return r.out, !r.failed && len(r.text) == 0
}

// skip goes on behind a text, if it comes next.
func (r *parser) skip(text string) bool {
	if len(r.text) < len(text) || string(r.text[:len(text)]) != text {
		return false
	}
	r.text = r.text[len(text):]
	return true
}

// want goes on behind a text, which has to come next.
func (r *parser) want(text string) { r.failed = r.failed || !r.skip(text) }

// beside reads elements that are beside each other, at least one, and what ends them.
func (r *parser) beside(p *plan) {
	members := p.members
	for last := -1; !r.failed; {
		at := len(r.out)
		members = r.element(p, members)
		if r.failed || last >= 0 && order(r.out[last].name(), r.out[at].name()) >= 0 {
			break
		}
		if last = at; r.skip(`}`) {
			return
		}
		r.want(`,`)
	}
	r.failed = true
}

// element reads one of a value. Fields of a struct are among the members, of which it gives those that are left.
func (r *parser) element(p *plan, members []member) []member {
	text, at := r.text, len(r.out)
	r.out = append(r.out, element{})
	of, members := r.name(p, members)
	if r.want(`":{`); r.failed {
		return nil
	}
	e := element{head: len(text) - len(r.text), self: true}
	if !r.skip(`}`) {
		r.inside(of, &e)
	}
	e.text, e.size = text[:len(text)-len(r.text)], len(r.out)-at
	r.out[at] = e
	return members
}

// inside reads what is in an element. A leaf has nothing in it: where something is, the library takes it for a change of schema.
func (r *parser) inside(p *plan, e *element) {
	if p.shape == leaf {
		r.failed = true
		return
	}
	if e.self = r.skip(itself); e.self {
		r.want(`,`)
	}
	r.beside(p)
}

// name reads the name of an element, and gives the plan of its values.
func (r *parser) name(p *plan, members []member) (*plan, []member) {
	switch {
	case p.shape == structure && r.skip(`"f:`):
		return r.member(members)
	case p.shape == mapping && r.skip(`"f:`):
		r.plain('"')
		return p.item, nil
	case p.shape == set && r.skip(`"v:`):
		r.word()
		return p.item, nil
	case p.shape == keyed && r.skip(`"k:{`):
		r.keys()
		return p.item, nil
	}
	r.failed = true
	return nil, nil
}

// member reads the name of one of the members, which are in order.
func (r *parser) member(members []member) (*plan, []member) {
	name := r.plain('"')
	for i := range members {
		if m := &members[i]; m.json == string(name) {
			r.failed = r.failed || m.dropped || m.plan.shape == unknown
			return m.plan, members[i+1:]
		}
	}
	r.failed = true
	return nil, nil
}

// plain reads a text that ends before a byte.
func (r *parser) plain(end byte) []byte {
	i := max(bytes.IndexByte(r.text, end), 0)
	text := r.text[:i]
	r.text = r.text[i:]
	r.failed = r.failed || !plain(text)
	return text
}

// keys reads the names and words of the keys of an item, in the order of the names.
func (r *parser) keys() {
	var last []byte
	for !r.failed {
		r.want(`\"`)
		name := r.plain('\\')
		r.want(`\":`)
		r.word()
		if last != nil && bytes.Compare(last, name) >= 0 {
			break
		}
		if last = name; r.skip(`}`) {
			return
		}
		r.want(`,`)
	}
	r.failed = true
}

// maxDigits is how many digits a number may have that the library, to which numbers of sets have fractions, does not round.
const maxDigits = 15

// word reads a number or a text.
func (r *parser) word() {
	if r.skip(`\"`) {
		r.plain('\\')
		r.want(`\"`)
		return
	}
	minus := r.skip(`-`)
	n := 0
	for n < len(r.text) && '0' <= r.text[n] && r.text[n] <= '9' {
		n++
	}
	if n == 0 || n > maxDigits || r.text[0] == '0' && (n > 1 || minus) {
		r.failed = true
		return
	}
	r.text = r.text[n:]
}
