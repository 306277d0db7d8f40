package stages

import "github.com/itchyny/gojq"

// path is a plain expression of jq such as .metadata.labels["a"] or .status.conditions.[].type: nearly all that selectors hold. It is
// followed by hand, in a tenth of the time that jq takes.
type path []segment

// segment goes to a field, or, without a name, to each element of a list.
type segment struct {
	name string
	each bool
}

// plainPath gives the path that an expression is; false when it is more than one.
func plainPath(q *gojq.Query) (path, bool) {
	if q.Term == nil || q.Op != 0 || q.Left != nil || q.Meta != nil || len(q.Imports)+len(q.FuncDefs)+len(q.Patterns) > 0 {
		return nil, false
	}
	var p path
	switch q.Term.Type {
	case gojq.TermTypeIdentity:
	case gojq.TermTypeIndex:
		name, ok := fieldOf(q.Term.Index)
		if !ok {
			return nil, false
		}
		p = append(p, segment{name: name})
	default:
		return nil, false
	}
	for _, suffix := range q.Term.SuffixList {
		if suffix.Optional {
			return nil, false
		}
		if suffix.Iter {
			p = append(p, segment{each: true})
			continue
		}
		name, ok := fieldOf(suffix.Index)
		if !ok {
			return nil, false
		}
		p = append(p, segment{name: name})
	}
	return p, true
}

// fieldOf gives the field's name that an index is.
func fieldOf(i *gojq.Index) (string, bool) {
	switch {
	case i == nil || i.IsSlice || i.End != nil:
		return "", false
	case i.Name != "":
		return i.Name, true
	case i.Str != nil && len(i.Str.Queries) == 0:
		return i.Str.Str, true
	case i.Start != nil && i.Start.Term != nil && i.Start.Op == 0 && i.Start.Term.Type == gojq.TermTypeString && len(i.Start.Term.SuffixList) == 0 && len(i.Start.Term.Str.Queries) == 0:
		return i.Start.Term.Str.Str, true
	}
	return "", false
}

// find adds to out what is there; false when jq would end with an error.
func (p path) find(from any, out []any) ([]any, bool) {
	for i, s := range p {
		if s.each {
			return p[i+1:].findEach(from, out)
		}
		switch at := from.(type) {
		case nil: // and so is what would be below it
		case map[string]any:
			from = at[s.name]
		default:
			return nil, false
		}
	}
	if from != nil {
		out = append(out, from)
	}
	return out, true
}

func (p path) findEach(from any, out []any) (found []any, ok bool) {
	found = out
	switch at := from.(type) {
	case []any:
		for _, element := range at {
			if found, ok = p.find(element, found); !ok {
				return nil, false
			}
		}
	case map[string]any:
		for _, element := range at {
			if found, ok = p.find(element, found); !ok {
				return nil, false
			}
		}
	default: // jq can't iterate over null either
		return nil, false
	}
	return found, true
}
