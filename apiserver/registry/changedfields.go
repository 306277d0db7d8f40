package registry

import (
	"cmp"
	"slices"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/registry/fieldset"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// maxUpdaters is how many updates managedFields remember one by one. With more, the field manager puts the oldest together.
const maxUpdaters = 10

// ownChanged makes the managedFields of an object that is changed as the field manager would, at a fraction of its cost. False:
// something is not of the ordinary, and the field manager is to see it.
func (r *Registry) ownChanged(live, obj resource.Object, o WriteOptions) ([]metav1.ManagedFieldsEntry, bool) {
	plan := r.plan(o)
	if plan == nil {
		return nil, false
	}
	before := live.GetManagedFields()
	if brought := obj.GetManagedFields(); o.Subresource == "" && brought != nil {
		before = brought
	}
	if len(before) == 0 {
		return nil, live.GetUID() != "" // an object whose managers are not known keeps it that way
	}
	if !r.ordinary(before) {
		return nil, false
	}
	change, ok := plan.Compare(live, obj)
	if !ok {
		return nil, false
	}
	defer change.Release()
	after, ok := r.after(change, before, o)
	return after, ok && updaters(after) <= maxUpdaters
}

// ordinary tells whether all entries are of the own version, sound, and of different managers.
func (r *Registry) ordinary(entries []metav1.ManagedFieldsEntry) bool {
	version := r.Resource.GVK().GroupVersion().String()
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Operation != metav1.ManagedFieldsOperationUpdate && e.Operation != metav1.ManagedFieldsOperationApply,
			e.APIVersion != version, e.FieldsType != "FieldsV1", e.FieldsV1 == nil,
			!utf8.ValidString(e.Manager), !utf8.ValidString(e.Subresource),
			slices.ContainsFunc(entries[:i], func(other metav1.ManagedFieldsEntry) bool { return sameManager(e, &other) }):
			return false
		}
	}
	return true
}

// sameManager compares entries of one version.
func sameManager(a, b *metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// after gives the entries after a change: those of others less what they lost by it, and the writer's, which is as old as the
// last change that made it own something.
func (r *Registry) after(change *fieldset.Change, before []metav1.ManagedFieldsEntry, o WriteOptions) ([]metav1.ManagedFieldsEntry, bool) {
	own := r.ownEntry(o)
	after := make([]metav1.ManagedFieldsEntry, 0, len(before)+1)
	for _, e := range before {
		if change.Any() && sameManager(&e, &own) {
			own.FieldsV1 = e.FieldsV1
			continue
		}
		fields, ok := change.Left(e.FieldsV1)
		if !ok {
			return nil, false
		}
		if e.FieldsV1 = fields; fields != nil {
			after = append(after, e)
		}
	}
	if change.Any() {
		fields, ok := change.Own(own.FieldsV1)
		if !ok {
			return nil, false
		}
		own.FieldsV1, own.Time = fields, now()
		after = append(after, own)
	}
	if len(after) == 0 {
		return nil, true
	}
	slices.SortFunc(after, compareEntries)
	return after, true
}

// compareEntries orders those of one version.
func compareEntries(a, b metav1.ManagedFieldsEntry) int {
	return cmp.Or(
		cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a.Time), seconds(b.Time)),
		cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Subresource, b.Subresource),
	)
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

func updaters(entries []metav1.ManagedFieldsEntry) (n int) {
	for i := range entries {
		if entries[i].Operation == metav1.ManagedFieldsOperationUpdate {
			n++
		}
	}
	return n
}
