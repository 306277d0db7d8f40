package fieldset

import (
	"reflect"
	"sync"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// planner makes plans, each once. Types contain themselves, so a plan is known before it is complete; none is given away before.
type planner struct {
	mu   sync.Mutex
	made map[subject]*plan
}

// subject is what a plan is of.
type subject struct {
	schema       *schema.Schema
	typ          reflect.Type
	name         string
	relationship schema.ElementRelationship
}

// plans are shared by all endpoints of a process, as are the types.
var plans = &planner{made: map[subject]*plan{}}

func (pl *planner) of(s *schema.Schema, t reflect.Type, ref schema.TypeRef) *plan {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.plan(s, t, ref)
}

func (pl *planner) plan(s *schema.Schema, t reflect.Type, ref schema.TypeRef) *plan {
	if ref.NamedType == nil {
		p := &plan{}
		pl.fill(p, s, t, ref)
		return p
	}
	of := subject{schema: s, typ: t, name: *ref.NamedType}
	if ref.ElementRelationship != nil {
		of.relationship = *ref.ElementRelationship
	}
	if p, ok := pl.made[of]; ok {
		return p
	}
	p := &plan{}
	pl.made[of] = p
	pl.fill(p, s, t, ref)
	return p
}

// fill completes a plan, or leaves it unknown.
func (pl *planner) fill(p *plan, s *schema.Schema, t reflect.Type, ref schema.TypeRef) {
	atom, ok := s.Resolve(ref)
	if !ok {
		return
	}
	whole := t
	if t.Kind() == reflect.Pointer {
		p.pointer, t = true, t.Elem()
	}
	own, marshals := ownJSON[t]
	if !marshals && (value.TypeReflectEntryOf(t).CanConvertToUnstructured() || value.TypeReflectEntryOf(whole).CanConvertToUnstructured()) {
		return
	}
	p.sound = own.sound
	switch {
	case marshals:
		if own.fits(atom) {
			p.shape = leaf
		}
	case onlyScalar(atom):
		if fits(t, *atom.Scalar) {
			p.shape = leaf
		}
	case atom.Map != nil && atom.Scalar == nil && atom.List == nil:
		pl.fillMap(p, s, t, atom.Map)
	case atom.List != nil && atom.Scalar == nil && atom.Map == nil && !p.pointer:
		pl.fillList(p, s, t, atom.List)
	}
}

// fillMap completes the plan of a struct, or of a map with texts as keys.
func (pl *planner) fillMap(p *plan, s *schema.Schema, t reflect.Type, of *schema.Map) {
	isMap := t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && !p.pointer
	switch {
	case !isMap && t.Kind() != reflect.Struct:
	case of.ElementRelationship == schema.Atomic:
		p.shape = leaf
	case isMap:
		if len(of.Fields) == 0 {
			p.shape, p.item = mapping, pl.plan(s, t.Elem(), of.ElementType)
		}
	default:
		pl.fillStruct(p, s, t, of)
	}
}

func (pl *planner) fillStruct(p *plan, s *schema.Schema, t reflect.Type, of *schema.Map) {
	names, ok := namesOf(t)
	if !ok {
		return
	}
	var members []member
	for _, n := range names {
		ref := of.ElementType
		if f, ok := of.FindField(n.json); ok {
			ref = f.Type
		}
		shown := !n.omitted(reflect.Zero(n.typ))
		if shown && n.omitZero != nil {
			return // a zero that does not count as one
		}
		members = append(members, member{name: n, plan: pl.plan(s, n.typ, ref), head: `"f:` + n.json + `":{`, shown: shown})
	}
	p.shape, p.members = structure, members
}

// fillList completes the plan of a list that is owned as one, a set, or a list whose items have keys.
func (pl *planner) fillList(p *plan, s *schema.Schema, t reflect.Type, of *schema.List) {
	if t.Kind() != reflect.Slice || t.Elem().Kind() == reflect.Uint8 {
		return
	}
	if of.ElementRelationship == schema.Atomic {
		p.shape = leaf
		return
	}
	if of.ElementRelationship != schema.Associative {
		return
	}
	item := pl.plan(s, t.Elem(), of.ElementType)
	if len(of.Keys) == 0 {
		if item.shape == leaf && wordKind(t.Elem().Kind()) && !item.pointer && item.sound == nil {
			p.shape, p.item = set, item
		}
		return
	}
	keys, ok := keysOf(s, t.Elem(), of)
	if ok {
		p.shape, p.item, p.keys = keyed, item, keys
	}
}

// onlyScalar tells whether a schema has neither maps nor lists.
func onlyScalar(a schema.Atom) bool { return a.Scalar != nil && a.Map == nil && a.List == nil }

// fits tells whether all values of a Go type are such scalars.
func fits(t reflect.Type, s schema.Scalar) bool {
	var is schema.Scalar
	switch t.Kind() {
	case reflect.String:
		is = schema.String
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return false
		}
		is = schema.String // in base64
	case reflect.Bool:
		is = schema.Boolean
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Float32, reflect.Float64:
		is = schema.Numeric
	default:
		return false
	}
	return s == is || s == schema.Untyped
}
