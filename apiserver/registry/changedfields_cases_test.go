package registry

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// owner is an entry of a manager of Pods.
func owner(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Subresource: subresource, FieldsType: "FieldsV1"}
	e.Time, e.FieldsV1 = &metav1.Time{Time: time.Unix(1e9, 0).UTC()}, metav1.NewFieldsV1(fields)
	return e
}

// TestChangedFieldsOf looks at entries one by one. All are of a Pod whose label a changes, and whose label b is taken away.
func TestChangedFieldsOf(t *testing.T) {
	t.Parallel()
	const labels = `{"f:metadata":{"f:labels":{".":{},"f:a":{},"f:b":{}}}}`
	as := func(change func(*metav1.ManagedFieldsEntry)) []metav1.ManagedFieldsEntry {
		e := owner("n", "", labels)
		change(&e)
		return []metav1.ManagedFieldsEntry{owner("o", "", labels), e}
	}
	var many []metav1.ManagedFieldsEntry
	for i := range maxUpdaters {
		many = append(many, owner(fmt.Sprint("n", i), "", `{"f:spec":{"f:nodeName":{}}}`))
	}
	for name, c := range map[string]struct {
		before  []metav1.ManagedFieldsEntry
		brought []metav1.ManagedFieldsEntry
		reset   bool // what is brought counts, though it is nothing
		new     bool // without an identity
		left    bool // to the library
		want    int  // entries after it
	}{
		"nobody":            {},
		"nobody, and new":   {new: true, left: true},
		"the writer":        {before: []metav1.ManagedFieldsEntry{owner("m", "", labels)}, want: 1},
		"another":           {before: []metav1.ManagedFieldsEntry{owner("n", "", labels)}, want: 2},
		"who loses all":     {before: []metav1.ManagedFieldsEntry{owner("n", "", `{"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}}}`)}, want: 1},
		"of a subresource":  {before: []metav1.ManagedFieldsEntry{owner("m", "status", labels)}, want: 2},
		"of nothing":        {before: []metav1.ManagedFieldsEntry{owner("n", "", `{}`)}, want: 1},
		"applied":           {before: as(func(e *metav1.ManagedFieldsEntry) { e.Operation = metav1.ManagedFieldsOperationApply }), want: 3},
		"applied by it":     {before: as(func(e *metav1.ManagedFieldsEntry) { e.Manager, e.Operation = "m", metav1.ManagedFieldsOperationApply }), want: 3},
		"without a time":    {before: as(func(e *metav1.ManagedFieldsEntry) { e.Time = nil }), want: 3},
		"at another time":   {before: as(func(e *metav1.ManagedFieldsEntry) { e.Time = &metav1.Time{Time: time.Unix(1e8, 5)} }), want: 3},
		"without a name":    {before: as(func(e *metav1.ManagedFieldsEntry) { e.Manager = "" }), want: 3},
		"another version":   {before: as(func(e *metav1.ManagedFieldsEntry) { e.APIVersion = "v2" }), left: true},
		"another operation": {before: as(func(e *metav1.ManagedFieldsEntry) { e.Operation = "Patch" }), left: true},
		"another type":      {before: as(func(e *metav1.ManagedFieldsEntry) { e.FieldsType = "" }), left: true},
		"no fields":         {before: as(func(e *metav1.ManagedFieldsEntry) { e.FieldsV1 = nil }), left: true},
		"no UTF-8":          {before: as(func(e *metav1.ManagedFieldsEntry) { e.Manager = "\xff" }), left: true},
		"the same twice":    {before: as(func(e *metav1.ManagedFieldsEntry) { e.Manager = "o" }), left: true},
		"nobody's":          {before: as(func(e *metav1.ManagedFieldsEntry) { e.FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:uid":{}}}`) }), left: true},
		"in an atomic map": {before: as(func(e *metav1.ManagedFieldsEntry) {
			e.FieldsV1 = metav1.NewFieldsV1(`{"f:spec":{"f:nodeSelector":{"f:a":{}}}}`)
		}), left: true},
		"spaced":            {before: as(func(e *metav1.ManagedFieldsEntry) { e.FieldsV1 = metav1.NewFieldsV1(`{ }`) }), left: true},
		"as many as may be": {before: many[1:], want: maxUpdaters},
		"too many":          {before: many, left: true},
		"brought":           {before: many[:1], brought: []metav1.ManagedFieldsEntry{owner("o", "", labels)}, want: 2},
		"reset":             {before: many[:1], reset: true},
		"reset by an empty": {before: many[:1], brought: []metav1.ManagedFieldsEntry{{}}, left: true},
	} {
		live := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u", Labels: map[string]string{"a": "b", "b": "c"}, ManagedFields: c.before}}
		obj := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u", Labels: map[string]string{"a": "c"}, ManagedFields: c.before}}
		if c.brought != nil {
			obj.ManagedFields = c.brought
		}
		if c.reset {
			obj.ManagedFields = []metav1.ManagedFieldsEntry{}
		}
		if c.new {
			live.UID, obj.UID = "", ""
		}
		fields, ok := of(t, core.Pod, "").compareChange(t, live, obj, "m")
		if ok == c.left {
			t.Errorf("%s: left to the library: %v", name, !ok)
		}
		if ok && len(fields) != c.want {
			t.Errorf("%s: %q; want %d", name, raws(fields), c.want)
		}
	}
}
