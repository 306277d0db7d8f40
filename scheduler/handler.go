package scheduler

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// handler takes a watch apart into three functions for those objects that are wanted: one
// that becomes wanted is added, one that is no longer is removed.
type handler[T identified] struct {
	wanted func(T) bool
	add    func(T)
	update func(before, after T)
	remove func(T)
}

type identified interface {
	comparable
	GetUID() types.UID
}

// OnAdd is toolscache.ResourceEventHandler.
func (h handler[T]) OnAdd(object any, _ bool) {
	if o := as[T](object); h.wanted(o) {
		h.add(o)
	}
}

// OnUpdate is toolscache.ResourceEventHandler. Two objects of one name and different uids
// are two objects, of whose change the watch has missed the middle.
func (h handler[T]) OnUpdate(before, after any) {
	b, a := as[T](before), as[T](after)
	was, is := h.wanted(b), h.wanted(a)
	if was && is && b.GetUID() == a.GetUID() {
		h.update(b, a)
		return
	}
	if was {
		h.remove(b)
	}
	if is {
		h.add(a)
	}
}

// OnDelete is toolscache.ResourceEventHandler.
func (h handler[T]) OnDelete(object any) {
	if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	if o := as[T](object); h.wanted(o) {
		h.remove(o)
	}
}

func as[T any](object any) T {
	typed, ok := object.(T)
	if !ok {
		panic(fmt.Sprintf("the watch delivered a %T", object))
	}
	return typed
}
