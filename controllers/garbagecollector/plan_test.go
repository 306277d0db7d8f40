package garbagecollector

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

func reference(uid types.UID, blocks bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: string(uid), UID: uid, BlockOwnerDeletion: ptr.To(blocks)}
}

func item(uid types.UID, owners ...metav1.OwnerReference) *Item {
	return &Item{Kind: configMapKind, Namespace: "ns", Name: string(uid), UID: uid, Owners: owners}
}

func deleted(i *Item, finalizer string) *Item {
	next := *i
	next.Deleting = true
	next.Finalizers = []string{finalizer}
	return &next
}

func TestDecide(t *testing.T) {
	t.Parallel()
	a, b := reference("a", true), reference("b", true)
	of := func(state OwnerState, r metav1.OwnerReference) Owner { return Owner{Reference: r, State: state} }
	child := item("child", a)
	leaving := deleted(item("child", reference("me", true)), metav1.FinalizerDeleteDependents)
	withFinalizer := func(finalizer string) *Item {
		i := item("me", a)
		i.Finalizers = []string{finalizer}
		return i
	}
	for name, c := range map[string]struct {
		item       *Item
		owners     []Owner
		dependents []*Item
		want       Action
	}{
		"no owners":                    {item("me"), nil, nil, Action{}},
		"an owner that stays":          {item("me", a), []Owner{of(Solid, a)}, nil, Action{}},
		"one stays, one is gone":       {item("me", a, b), []Owner{of(Solid, a), of(Dangling, b)}, nil, Action{Drop: []types.UID{"b"}}},
		"one stays, one waits":         {item("me", a, b), []Owner{of(Solid, a), of(Waiting, b)}, nil, Action{Drop: []types.UID{"b"}}},
		"gone":                         {item("me", a), []Owner{of(Dangling, a)}, nil, Action{Delete: metav1.DeletePropagationBackground}},
		"gone, with orphan finalizer":  {withFinalizer(metav1.FinalizerOrphanDependents), []Owner{of(Dangling, a)}, nil, Action{Delete: metav1.DeletePropagationOrphan}},
		"gone, with foreground one":    {withFinalizer(metav1.FinalizerDeleteDependents), []Owner{of(Dangling, a)}, nil, Action{Delete: metav1.DeletePropagationForeground}},
		"owner waits, a leaf":          {item("me", a), []Owner{of(Waiting, a)}, nil, Action{Delete: metav1.DeletePropagationBackground}},
		"owner waits, with dependents": {item("me", a), []Owner{of(Waiting, a)}, []*Item{child}, Action{Delete: metav1.DeletePropagationForeground}},
		"owner waits, maybe a cycle":   {item("me", a), []Owner{of(Waiting, a)}, []*Item{leaving}, Action{Delete: metav1.DeletePropagationForeground, Unblock: true}},
		"being deleted":                {deleted(item("me", a), "other"), []Owner{of(Dangling, a)}, nil, Action{}},
		"foreground, nothing left":     {deleted(item("me"), metav1.FinalizerDeleteDependents), nil, nil, Action{Finish: true}},
		"foreground, not blocked":      {deleted(item("me"), metav1.FinalizerDeleteDependents), nil, []*Item{item("x", reference("me", false))}, Action{Finish: true}},
		"foreground, blocked":          {deleted(item("me"), metav1.FinalizerDeleteDependents), nil, []*Item{item("x", reference("me", true)), leaving}, Action{LookAt: []types.UID{"x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(c.item, c.owners, c.dependents); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestGraphSaysWhereToLook(t *testing.T) {
	t.Parallel()
	g := NewGraph()
	same := func(step string, got []types.UID, want ...types.UID) {
		t.Helper()
		slices.Sort(got)
		if !slices.Equal(slices.Compact(got), want) {
			t.Errorf("%s: look at %v, want %v", step, got, want)
		}
	}
	same("an object without owners", g.Observe(item("a")))
	same("its dependent", g.Observe(item("b", reference("a", true))))
	same("one whose owner isn't known", g.Observe(item("c", reference("x", true))), "c")
	same("one whose owner has another name", g.Observe(item("d", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "else", UID: "a"})), "d")
	elsewhere := item("e", reference("a", true))
	elsewhere.Namespace = "other"
	same("one in another namespace", g.Observe(elsewhere), "e")
	if misplaced := g.Misplaced(elsewhere); len(misplaced) != 1 {
		t.Errorf("misplaced references: %v", misplaced)
	}
	same("the owner is deleted in the foreground", g.Observe(deleted(item("a"), metav1.FinalizerDeleteDependents)), "a", "b", "d", "e")
	same("a dependent no longer blocks it", g.Observe(item("b", reference("a", false))), "a", "b")
	same("a dependent is gone", g.Forget("b"), "a")
	same("the owner is gone", g.Forget("a"), "d", "e")
	same("an owner that was never known is gone", g.Forget("x"), "c")
	if left := g.Dependents("a"); len(left) != 2 {
		t.Errorf("dependents of a: %v", left)
	}
}
