package garbagecollector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OwnerState is what was found of an owner that an object refers to.
type OwnerState int

// The three states of an owner.
const (
	// Solid: it exists and stays, or goes without waiting for anything.
	Solid OwnerState = iota
	// Dangling: there is no such object.
	Dangling
	// Waiting: it is being deleted in the foreground, after its dependents.
	Waiting
)

// Owner is one owner reference and what was found of it.
type Owner struct {
	Reference metav1.OwnerReference
	State     OwnerState
}

// Action is what to do about one object.
type Action struct {
	// Delete deletes it, with this propagation; empty: don't.
	Delete metav1.DeletionPropagation
	// Unblock first makes its owner references non-blocking.
	Unblock bool
	// Drop removes the owner references to these uids.
	Drop []types.UID
	// Finish removes the foreground finalizer: nothing blocks any more.
	Finish bool
	// LookAt are dependents that are to be looked at instead.
	LookAt []types.UID
}

// Decide judges one object by its owners and its dependents. An object
//   - that is deleted in the foreground is finished once no dependent blocks it;
//   - that is being deleted otherwise is left to that;
//   - with an owner that stays is kept, and loses its references to others;
//   - whose owners wait for it, and that has dependents itself, is deleted in the
//     foreground too, so that the deletion goes from the leaves to the root. Is one of
//     these dependents waiting as well, it may be a cycle; then its own references no
//     longer block, or nobody could ever begin;
//   - without any owner left is deleted, the way its finalizers ask.
func Decide(item *Item, owners []Owner, dependents []*Item) Action {
	switch {
	case item.Foreground():
		return finish(item, dependents)
	case item.Deleting, len(item.Owners) == 0:
		return Action{}
	}
	var gone []types.UID
	solid, waiting := false, false
	for _, owner := range owners {
		switch owner.State {
		case Solid:
			solid = true
		case Waiting:
			waiting = true
			gone = append(gone, owner.Reference.UID)
		case Dangling:
			gone = append(gone, owner.Reference.UID)
		}
	}
	switch {
	case solid:
		return Action{Drop: gone}
	case waiting && len(dependents) > 0:
		return Action{
			Delete:  metav1.DeletePropagationForeground,
			Unblock: slices.ContainsFunc(dependents, (*Item).Foreground),
		}
	case slices.Contains(item.Finalizers, metav1.FinalizerOrphanDependents):
		return Action{Delete: metav1.DeletePropagationOrphan}
	case slices.Contains(item.Finalizers, metav1.FinalizerDeleteDependents):
		return Action{Delete: metav1.DeletePropagationForeground}
	}
	return Action{Delete: metav1.DeletePropagationBackground}
}

func finish(item *Item, dependents []*Item) Action {
	action := Action{Finish: true}
	for _, dependent := range dependents {
		if !dependent.Blocks(item.UID) {
			continue
		}
		action.Finish = false
		if !dependent.Foreground() {
			action.LookAt = append(action.LookAt, dependent.UID)
		}
	}
	return action
}

// withoutOwners gives the references that are left without those to uids.
func withoutOwners(references []metav1.OwnerReference, uids ...types.UID) []metav1.OwnerReference {
	left := []metav1.OwnerReference{}
	for _, reference := range references {
		if !slices.Contains(uids, reference.UID) {
			left = append(left, reference)
		}
	}
	return left
}

// unblocking gives the references with none of them blocking.
func unblocking(references []metav1.OwnerReference) []metav1.OwnerReference {
	left := slices.Clone(references)
	for i := range left {
		if left[i].BlockOwnerDeletion != nil {
			left[i].BlockOwnerDeletion = new(bool)
		}
	}
	return left
}
