package registry

import (
	"reflect"
	"sync"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kogge-dev/kogge/apiserver/registry/fieldset"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// newFields gives the plan of which fields of a new object an endpoint lets be owned; nil: there is none. It is made when it is first
// asked for.
type newFields func() *fieldset.Plan

func (m *Managers) newFields(r *resource.Resource, hooks *resource.Hooks) newFields {
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

// ownNew makes the managedFields of a new object as the field manager would, at a fraction of its cost. False: it is not new, or
// not of the ordinary, and the field manager is to see it.
func (r *Registry) ownNew(live, obj resource.Object, o WriteOptions) ([]metav1.ManagedFieldsEntry, bool) {
	plan := r.plans[o.Subresource]
	if plan == nil || o.Manager == "" || !utf8.ValidString(o.Manager) || len(obj.GetManagedFields()) > 0 || !reflect.ValueOf(live).Elem().IsZero() {
		return nil, false
	}
	made := plan()
	if made == nil {
		return nil, false
	}
	fields, ok := made.Of(obj)
	if !ok || fields == nil {
		return nil, ok
	}
	return []metav1.ManagedFieldsEntry{{
		Manager: o.Manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: o.Subresource,
		APIVersion: r.Resource.GVK().GroupVersion().String(), Time: &metav1.Time{Time: time.Now().UTC()},
		FieldsType: "FieldsV1", FieldsV1: fields,
	}}, true
}
