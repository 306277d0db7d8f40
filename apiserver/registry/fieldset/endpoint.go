package fieldset

import (
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Plan says which fields of the objects of one type are owned through one endpoint.
type Plan struct {
	typ   reflect.Type
	root  *plan
	whole *plan // of what may be owned through any endpoint
}

// stripped are paths that belong to nobody.
var stripped = []string{
	"apiVersion", "kind", "metadata.name", "metadata.namespace", "metadata.creationTimestamp", "metadata.selfLink",
	"metadata.uid", "metadata.clusterName", "metadata.generation", "metadata.managedFields", "metadata.resourceVersion",
}

// For makes the plan of a struct, whose schema is that of a value, leaving out the paths that an endpoint resets.
func For(t reflect.Type, of *typed.TypedValue, reset []string) *Plan {
	root := plans.of(of.Schema(), t, of.TypeRef())
	return &Plan{typ: t, root: root.without(pathsOf(slices.Concat(reset, stripped))), whole: root.without(pathsOf(stripped))}
}

// paths are names of fields, with the paths below them: none is all of them.
type paths map[string]paths

func pathsOf(texts []string) paths {
	p := paths{}
	for _, text := range texts {
		p.add(strings.Split(text, "."))
	}
	return p
}

func (p paths) add(path []string) {
	below, known := p[path[0]]
	switch {
	case len(path) == 1:
		p[path[0]] = nil
	case known && below == nil: // it is left out as a whole
	default:
		if below == nil {
			below = paths{}
			p[path[0]] = below
		}
		below.add(path[1:])
	}
}

// without is the plan less some paths, which lead through structs that are there in a new object.
func (p *plan) without(out paths) *plan {
	if p.shape != structure || p.pointer {
		return &plan{}
	}
	less := *p
	less.members = nil
	for _, m := range p.members {
		below, part := out[m.json]
		switch {
		case !part:
			less.members = append(less.members, m)
		case below == nil:
			if m.plan.shape != leaf || m.plan.sound != nil {
				m.dropped = true
				less.members = append(less.members, m)
			}
		case !m.shown:
			return &plan{}
		default:
			m.plan = m.plan.without(below)
			less.members = append(less.members, m)
		}
	}
	return &less
}
