package garbagecollector

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Graph knows every object by its uid, and who refers to it. It is safe for concurrent
// use; items in it are never changed, only replaced.
//
// Invariant: dependents[o] holds exactly the uids of items with an owner reference to o,
// whether or not o itself is known.
type Graph struct {
	mu         sync.RWMutex
	items      map[types.UID]*Item
	dependents map[types.UID]map[types.UID]struct{}
}

// NewGraph is a graph without objects.
func NewGraph() *Graph {
	return &Graph{items: map[types.UID]*Item{}, dependents: map[types.UID]map[types.UID]struct{}{}}
}

// Observe takes in a new or changed object and gives the uids that are to be looked at
// because of it:
//   - the object itself, when it waits for its dependents, or when an owner of it isn't
//     known, is deleted in the foreground or isn't the object that the reference names;
//   - its dependents, when it is deleted in the foreground;
//   - owners that wait for their dependents and that it no longer blocks.
func (g *Graph) Observe(next *Item) []types.UID {
	g.mu.Lock()
	defer g.mu.Unlock()
	previous := g.items[next.UID]
	g.items[next.UID] = next
	if previous != nil {
		g.unlink(previous)
	}
	for _, owner := range next.Owners {
		if g.dependents[owner.UID] == nil {
			g.dependents[owner.UID] = map[types.UID]struct{}{}
		}
		g.dependents[owner.UID][next.UID] = struct{}{}
	}
	var work []types.UID
	if next.Foreground() {
		work = append(work, g.dependentsOf(next.UID)...)
	}
	if next.Foreground() || next.Orphaning() || g.doubtful(next) {
		work = append(work, next.UID)
	}
	return append(work, g.unblocked(previous, next)...)
}

// doubtful says that an owner of the item may be gone or going.
func (g *Graph) doubtful(item *Item) bool {
	for _, reference := range item.Owners {
		owner := g.items[reference.UID]
		if owner == nil || owner.Foreground() || !owner.Is(reference, item.Namespace) {
			return true
		}
	}
	return false
}

// unblocked lists the foreground owners that the item blocked before and doesn't now.
func (g *Graph) unblocked(previous, next *Item) (owners []types.UID) {
	if previous == nil {
		return nil
	}
	for _, reference := range previous.Owners {
		owner := g.items[reference.UID]
		if owner != nil && owner.Foreground() && (next == nil || previous.Blocks(reference.UID) && !next.Blocks(reference.UID)) {
			owners = append(owners, reference.UID)
		}
	}
	return owners
}

// Forget drops an object that is gone and gives the uids to look at: its dependents, and
// owners that waited for it.
func (g *Graph) Forget(uid types.UID) []types.UID {
	g.mu.Lock()
	defer g.mu.Unlock()
	work := g.dependentsOf(uid)
	item := g.items[uid]
	if item == nil {
		return work
	}
	delete(g.items, uid)
	g.unlink(item)
	return append(work, g.unblocked(item, nil)...)
}

func (g *Graph) unlink(item *Item) {
	for _, owner := range item.Owners {
		delete(g.dependents[owner.UID], item.UID)
		if len(g.dependents[owner.UID]) == 0 {
			delete(g.dependents, owner.UID)
		}
	}
}

func (g *Graph) dependentsOf(uid types.UID) []types.UID {
	uids := make([]types.UID, 0, len(g.dependents[uid]))
	for dependent := range g.dependents[uid] {
		uids = append(uids, dependent)
	}
	return uids
}

// Item gives what is known of an object; nil when nothing is.
func (g *Graph) Item(uid types.UID) *Item {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.items[uid]
}

// Dependents gives the objects that refer to uid as their owner.
func (g *Graph) Dependents(uid types.UID) []*Item {
	g.mu.RLock()
	defer g.mu.RUnlock()
	items := make([]*Item, 0, len(g.dependents[uid]))
	for dependent := range g.dependents[uid] {
		items = append(items, g.items[dependent])
	}
	return items
}

// Misplaced gives the owner references of an item that name an object of another
// namespace: they can never be true, and the user should hear of it.
func (g *Graph) Misplaced(item *Item) (references []metav1.OwnerReference) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, reference := range item.Owners {
		owner := g.items[reference.UID]
		if owner != nil && owner.Namespace != "" && owner.Namespace != item.Namespace {
			references = append(references, reference)
		}
	}
	return references
}
