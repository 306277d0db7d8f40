package registry

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// ownNew makes the managedFields of a new object as the field manager would, at a fraction of its cost. False: it is not new, or
// not of the ordinary, and the field manager is to see it.
func (r *Registry) ownNew(live, obj resource.Object, o WriteOptions) ([]metav1.ManagedFieldsEntry, bool) {
	plan := r.plan(o)
	if plan == nil || len(obj.GetManagedFields()) > 0 || !reflect.ValueOf(live).Elem().IsZero() {
		return nil, false
	}
	fields, ok := plan.Of(obj)
	if !ok || fields == nil {
		return nil, ok
	}
	own := r.ownEntry(o)
	own.FieldsV1, own.Time = fields, now()
	return []metav1.ManagedFieldsEntry{own}, true
}

// ownEntry is what the writer's entry has beside fields and time.
func (r *Registry) ownEntry(o WriteOptions) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: o.Manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: o.Subresource,
		APIVersion: r.Resource.GVK().GroupVersion().String(), FieldsType: "FieldsV1",
	}
}

func now() *metav1.Time { return &metav1.Time{Time: time.Now().UTC()} }
