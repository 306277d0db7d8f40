package cache

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

// mapCodec reads ConfigMaps of which the value is the name.
type mapCodec struct{}

func (mapCodec) Object(raw []byte, revision int64) (runtime.Object, error) {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: string(raw), ResourceVersion: strconv.FormatInt(revision, 10),
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}}, nil
}

func (mapCodec) Describe(o runtime.Object) Description {
	return Description{Name: o.(*corev1.ConfigMap).Name, Fields: fields.Set{}}
}

func entryAt(revision int64) *Entry {
	e := NewEntry(mapCodec{}, "a", []byte("a"), &corev1.ConfigMap{})
	e.Revision = revision
	return e
}

func shared(t *testing.T, e *Entry) *corev1.ConfigMap {
	t.Helper()
	o, err := e.Shared()
	if err != nil {
		t.Fatal(err)
	}
	return o.(*corev1.ConfigMap)
}

func TestSharedIsTheSameForAll(t *testing.T) {
	t.Parallel()
	e := entryAt(3)
	if a, b := shared(t, e), shared(t, e); a != b || a.ResourceVersion != "3" || a.ManagedFields != nil {
		t.Errorf("got %p %+v and %p", a, a.ObjectMeta, b)
	}
}

// TestSharedIsForgotten: what was replaced, was deleted, or left a selector is kept for a while only, and not again for who comes late.
func TestSharedIsForgotten(t *testing.T) {
	t.Parallel()
	r := &ring{}
	replaced := newEvent(2, entryAt(1), entryAt(2))
	r.push(replaced)
	deleted := newEvent(3, replaced.Entry, nil)
	r.push(deleted)
	gone := map[string]*Entry{"replaced": replaced.Previous, "left": replaced.Gone(), "deleted": deleted.Gone(), "last": replaced.Entry}
	for _, e := range gone {
		shared(t, e)
	}
	if replaced.Gone() != gone["left"] || gone["left"].Revision != 2 || gone["deleted"].Revision != 3 {
		t.Errorf("gone at %d and %d", gone["left"].Revision, gone["deleted"].Revision)
	}
	for i := range int64(sharedFor) {
		r.push(newEvent(4+i, nil, entryAt(4+i)))
	}
	for what, e := range gone {
		if e.shared.Load() != nil {
			t.Errorf("%s: kept", what)
		}
		if a, b := shared(t, e), shared(t, e); a == b {
			t.Errorf("%s: kept for who comes late", what)
		}
	}
}
