package registry

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// kinds are the endpoints of each kind, the object's own first.
var kinds = sync.OnceValue(func() [][]endpoint {
	of := map[*resource.Resource][]endpoint{}
	var order []*resource.Resource
	for _, e := range endpoints() {
		if of[e.Resource] == nil {
			order = append(order, e.Resource)
		}
		of[e.Resource] = append(of[e.Resource], e)
	}
	out := make([][]endpoint, 0, len(order))
	for _, kind := range order {
		slices.SortFunc(of[kind], func(a, b endpoint) int { return strings.Compare(a.subresource, b.subresource) })
		out = append(out, of[kind])
	}
	return out
})

// compareChange tells whether a change is of the ordinary, and fails unless it leads then to the managedFields that the library comes
// to. Those are given.
func (e endpoint) compareChange(t testing.TB, live, obj resource.Object, manager string) (fields []metav1.ManagedFieldsEntry, ordinary bool) {
	t.Helper()
	o := WriteOptions{Manager: manager, Subresource: e.subresource}
	was, is := live.DeepCopyObject(), obj.DeepCopyObject()
	got, ok := e.ownChanged(live, obj, o)
	if !reflect.DeepEqual(live, was) || !reflect.DeepEqual(obj, is) {
		t.Fatalf("%s: the objects have changed", e)
	}
	want, refused := e.byLibrary(was.(resource.Object), is.(resource.Object), o)
	if refused {
		if ok {
			t.Fatalf("%s: the library can't read\n%+v\nor\n%+v", e, live, obj)
		}
		return nil, false
	}
	if ok && (len(got) != len(want) || (got == nil) != (want == nil) || !slices.EqualFunc(got, want, sameEntry)) {
		t.Fatalf("%s by %s:\n%q; the library says\n%q\nof\n%+v\nand\n%+v", e, manager, raws(got), raws(want), live, obj)
	}
	return want, ok
}

// byLibrary asks the library, which panics where something in an object is no JSON.
func (e endpoint) byLibrary(live, obj resource.Object, o WriteOptions) (fields []metav1.ManagedFieldsEntry, refused bool) {
	defer func() { refused = recover() != nil }()
	return e.library.manage(live, obj, o).GetManagedFields(), false
}

// sameEntry compares entries; times of just now count as one.
func sameEntry(a, b metav1.ManagedFieldsEntry) bool {
	if recent(a.Time) && recent(b.Time) {
		a.Time, b.Time = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

func recent(t *metav1.Time) bool { return t != nil && time.Since(t.Time) < time.Minute }

// history changes an object of a kind again and again, through all endpoints and by several managers. It tells how many of the changes
// were of the ordinary.
func history(t testing.TB, kind []endpoint, next func() byte, changes int) (same int) {
	live := ordinary(kind[0], next)
	live.SetUID("u")
	fields, refused := kind[0].byLibrary(kind[0].Resource.New(), live.DeepCopyObject().(resource.Object), WriteOptions{Manager: "m0"})
	if refused {
		return 0
	}
	live.SetManagedFields(fields)
	for range changes {
		e := kind[int(next())%len(kind)]
		age(live.GetManagedFields(), next)
		obj := changed(live, next)
		switch next() {
		case 0:
			obj.SetManagedFields(nil)
		case 1:
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{})
		case 2:
			obj.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
		case 3:
			obj.SetManagedFields(obj.GetManagedFields()[:len(obj.GetManagedFields())/2])
		case 4:
			live.SetManagedFields(nil)
		}
		fields, ok := e.compareChange(t, live, obj, fmt.Sprintf("m%d", next()%4))
		if ok {
			same++
		}
		if len(fields) > 0 { // otherwise nobody would own anything any more
			obj.SetManagedFields(fields)
			live = obj
		}
	}
	return same
}

// age makes entries older, all in another way, and some of them applied ones.
func age(entries []metav1.ManagedFieldsEntry, next func() byte) {
	for i := range entries {
		entries[i].Time = &metav1.Time{Time: time.Unix(1e9+int64(next()%4), 0).UTC()}
		switch next() {
		case 0:
			entries[i].Operation = metav1.ManagedFieldsOperationApply
		case 1:
			entries[i].Time = nil
		case 2:
			entries[i].APIVersion = "v0"
		}
	}
}

// TestChangedFields changes objects of all kinds at random, and asks the library.
func TestChangedFields(t *testing.T) {
	t.Parallel()
	rounds, changes := 10, 12
	if testing.Short() {
		rounds = 2
	}
	for i, kind := range kinds() {
		t.Run(kind[0].String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			same := 0
			for range rounds {
				same += history(t, kind, func() byte { return byte(random.Uint32()) }, changes)
			}
			t.Logf("%d of %d", same, rounds*changes)
			if same < rounds*changes/5 {
				t.Errorf("only %d of %d changes were of the ordinary", same, rounds*changes)
			}
		})
	}
}

// FuzzChangedFields does so with what the fuzzer finds.
func FuzzChangedFields(f *testing.F) {
	for i := range kinds() {
		f.Add(uint16(i), []byte{255, 100, 40, 1, 50, 20, 200, 3})
	}
	f.Fuzz(func(t *testing.T, kind uint16, data []byte) {
		all := kinds()
		history(t, all[int(kind)%len(all)], from(data), 4)
	})
}

// FuzzChangedPod compares Pods and managers as a client may send them.
func FuzzChangedPod(f *testing.F) {
	encode := func(of any) string {
		text, err := json.Marshal(of)
		if err != nil {
			f.Fatal(err)
		}
		return string(text)
	}
	for _, w := range podWrites(f) {
		f.Add(encode(w.live), encode(w.obj), encode(w.live.GetManagedFields()), w.subresource != "", w.manager)
	}
	f.Fuzz(func(t *testing.T, was, is, managers string, status bool, manager string) {
		var live, obj corev1.Pod
		var before []metav1.ManagedFieldsEntry
		if json.Unmarshal([]byte(was), &live) != nil || json.Unmarshal([]byte(is), &obj) != nil || json.Unmarshal([]byte(managers), &before) != nil {
			return
		}
		live.ManagedFields = before
		for _, pod := range []*corev1.Pod{&live, &obj} {
			pod.TypeMeta = metav1.TypeMeta{}
		}
		e := of(t, core.Pod, map[bool]string{true: "status"}[status])
		e.compareChange(t, &live, &obj, manager)
	})
}
