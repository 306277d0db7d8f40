package registry

import (
	"reflect"
	"sync"
	"unicode/utf8"

	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kogge-dev/kogge/apiserver/registry/fieldset"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// fieldPlan gives the plan of which fields of an object an endpoint lets be owned; nil: there is none. It is made when it is first
// asked for.
type fieldPlan func() *fieldset.Plan

func (m *Managers) fieldPlan(r *resource.Resource, hooks *resource.Hooks) fieldPlan {
	return sync.OnceValue(func() *fieldset.Plan {
		empty := r.New()
		empty.GetObjectKind().SetGroupVersionKind(r.GVK())
		of, err := m.Types.ObjectToTyped(empty, typed.AllowDuplicates)
		if err != nil {
			return nil // a kind without a schema
		}
		return fieldset.For(reflect.TypeOf(empty).Elem(), of, hooks.ResetFields)
	})
}

// plan is the one of the endpoint that is written through; nil: there is none, or the writer's name is out of the ordinary.
func (r *Registry) plan(o WriteOptions) *fieldset.Plan {
	plan := r.plans[o.Subresource]
	if plan == nil || o.Manager == "" || !utf8.ValidString(o.Manager) {
		return nil
	}
	return plan()
}
