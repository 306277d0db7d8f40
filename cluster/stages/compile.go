package stages

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// stage is a Stage made ready: what it says is parsed once.
type stage struct {
	name   string
	kind   schema.GroupVersionKind
	match  []condition
	weight func(object) weight
	delay  *delay
	steps  []step
}

// object is one of the API as jq, CEL and templates see it. Its whole numbers are of type int.
type object = map[string]any

// condition tells whether an object is meant.
type condition func(object) bool

// compile makes a Stage ready, whose expressions go by the clock; it gives nil for one without a selector, which is for no object.
func compile(s *Stage, now func() time.Time) (*stage, field.ErrorList) {
	spec := field.NewPath("spec")
	c := &stage{name: s.Name}
	var failures, more field.ErrorList
	var err error
	if s.Spec.ResourceRef.Kind == "" {
		failures = append(failures, field.Required(spec.Child("resourceRef", "kind"), ""))
	}
	if c.kind, err = s.Spec.ResourceRef.kind(); err != nil {
		failures = append(failures, field.Invalid(spec.Child("resourceRef", "apiGroup"), s.Spec.ResourceRef.APIGroup, err.Error()))
	}
	if s.Spec.Selector != nil {
		c.match, more = compileSelector(s.Spec.Selector, spec.Child("selector"), now)
		failures = append(failures, more...)
	}
	if s.Spec.Weight < 0 {
		failures = append(failures, notNegative(spec.Child("weight"), s.Spec.Weight))
	}
	from, err := compileExpression(s.Spec.WeightFrom, now)
	if err != nil {
		failures = append(failures, field.Invalid(spec.Child("weightFrom"), s.Spec.WeightFrom.text(), err.Error()))
	}
	c.weight = weightOf(s.Spec.Weight, from)
	c.delay, more = compileDelay(s.Spec.Delay, spec.Child("delay"), now)
	failures = append(failures, more...)
	c.steps, more = compileSteps(s, spec)
	failures = append(failures, more...)
	if s.Spec.Selector == nil || len(failures) > 0 {
		return nil, failures
	}
	return c, nil
}

func notNegative(path *field.Path, value int64) *field.Error {
	return field.Invalid(path, value, "must be greater than or equal to 0")
}

// step is a Step made ready.
type step struct {
	Step
	text          *text  // of Patch or Apply
	patchType     string // of Patch or Apply
	impersonation *Impersonation
}

func compileSteps(s *Stage, spec *field.Path) ([]step, field.ErrorList) {
	var out []step
	var failures field.ErrorList
	for _, from := range s.Spec.steps(spec) {
		made := step{Step: from.Step}
		var template string
		var kinds []string
		switch {
		case from.Patch != nil:
			template, kinds = from.Patch.Template, []string{"json", "merge", "strategic"}
			made.patchType, made.impersonation = cmp.Or(from.Patch.Type, usualPatch(s.Spec.ResourceRef)), from.Patch.Impersonation
		case from.Apply != nil:
			template, kinds = from.Apply.Template, []string{"apply", "merge", "strategic"}
			made.patchType, made.impersonation = cmp.Or(from.Apply.Type, "apply"), from.Apply.Impersonation
		default:
			out = append(out, made)
			continue
		}
		if !slices.Contains(kinds, made.patchType) {
			failures = append(failures, field.NotSupported(from.path.Child("type"), made.patchType, kinds))
		}
		var err error
		if made.text, err = compileText(template); err != nil {
			failures = append(failures, field.Invalid(from.path.Child(from.template), template, err.Error()))
		}
		out = append(out, made)
	}
	return out, failures
}

// usualPatch is how a patch without a type is meant.
func usualPatch(r ResourceRef) string {
	if kind, err := r.kind(); err == nil && (kind == podKind || kind == nodeKind) {
		return "strategic"
	}
	return "merge"
}

// located is a step with the place of its patch or apply, and of the template in it.
type located struct {
	Step
	path     *field.Path
	template string
}

// steps are those of a Stage, in the newer form whichever it has.
func (s *Spec) steps(path *field.Path) []located {
	var out []located
	for i, one := range s.Steps {
		at := path.Child("steps").Index(i)
		if one.Patch != nil {
			out = append(out, located{one, at.Child("patch"), "template"})
		} else {
			out = append(out, located{one, at.Child("apply"), "template"})
		}
	}
	if len(out) > 0 || s.Next == nil {
		return out
	}
	return s.Next.steps(path.Child("next"))
}

func (n *Next) steps(path *field.Path) []located {
	var out []located
	if n.Event != nil {
		out = append(out, located{Step: Step{Event: n.Event}})
	}
	if n.Finalizers != nil {
		out = append(out, located{Step: Step{Finalizers: n.Finalizers}})
	}
	for i := range n.Patches {
		out = append(out, located{Step{Patch: &n.Patches[i]}, path.Child("patches").Index(i), "template"})
	}
	if len(n.Patches) == 0 && n.StatusTemplate != "" {
		subresource := "status"
		if n.StatusSubresource != nil {
			subresource = *n.StatusSubresource
		}
		status := &Patch{Subresource: subresource, Root: "status", Template: n.StatusTemplate, Impersonation: n.StatusPatchAs}
		out = append(out, located{Step{Patch: status}, path, "statusTemplate"})
	}
	if n.Delete {
		out = append(out, located{Step: Step{Delete: true}})
	}
	return out
}
