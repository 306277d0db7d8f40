package stages

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// compileSelector gives the conditions that must all hold.
func compileSelector(s *Selector, path *field.Path, now func() time.Time) ([]condition, field.ErrorList) {
	var all []condition
	var failures field.ErrorList
	if len(s.MatchLabels) > 0 {
		all = append(all, hasPairs("labels", s.MatchLabels))
	}
	if len(s.MatchAnnotations) > 0 {
		all = append(all, hasPairs("annotations", s.MatchAnnotations))
	}
	for i := range s.MatchExpressions {
		made, failure := compileMatch(&s.MatchExpressions[i], path.Child("matchExpressions").Index(i), now)
		if failure != nil {
			failures = append(failures, failure)
			continue
		}
		all = append(all, made)
	}
	return all, failures
}

// hasPairs: the metadata has these labels or annotations.
func hasPairs(where string, pairs map[string]string) condition {
	return func(o object) bool {
		metadata, _ := o["metadata"].(map[string]any)
		has, _ := metadata[where].(map[string]any)
		for key, value := range pairs {
			if has[key] != value {
				return false
			}
		}
		return true
	}
}

func compileMatch(m *MatchExpression, path *field.Path, now func() time.Time) (condition, *field.Error) {
	r := &m.Requirement
	switch {
	case m.JQ != nil:
		r, path = m.JQ, path.Child("jq")
	case m.CEL != nil:
		says, err := compileCEL(m.CEL.Expression, now)
		if err != nil {
			return nil, field.Invalid(path.Child("cel", "expression"), m.CEL.Expression, err.Error())
		}
		return func(o object) bool { return says(o) == true }, nil
	case r.Key == "":
		return nil, field.Required(path.Child("key"), "or cel, or jq")
	}
	find, err := compileQuery(r.Key)
	if err != nil {
		return nil, field.Invalid(path.Child("key"), r.Key, err.Error())
	}
	switch r.Operator {
	case In, NotIn:
		if len(r.Values) == 0 {
			return nil, field.Required(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'")
		}
		in := r.Operator == In
		return func(o object) bool { return slices.ContainsFunc(find(o), isOneOf(r.Values)) == in }, nil
	case Exists, DoesNotExist:
		if len(r.Values) > 0 {
			return nil, field.Forbidden(path.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
		}
		exists := r.Operator == Exists
		return func(o object) bool { return len(find(o)) > 0 == exists }, nil
	}
	return nil, field.NotSupported(path.Child("operator"), r.Operator, []Operator{In, NotIn, Exists, DoesNotExist})
}

// isOneOf compares a value, as text, with those that are wanted. Lists, maps and fractions are none of them.
func isOneOf(wanted []string) func(any) bool {
	return func(value any) bool {
		switch v := value.(type) {
		case string:
			return slices.Contains(wanted, v)
		case bool:
			return slices.Contains(wanted, strconv.FormatBool(v))
		case int:
			return slices.Contains(wanted, strconv.Itoa(v))
		}
		return false
	}
}

// matches: all conditions hold.
func (s *stage) matches(o object) bool {
	for _, holds := range s.match {
		if !holds(o) {
			return false
		}
	}
	return true
}
