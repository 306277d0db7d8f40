// Package garbagecollector deletes objects whose owners are gone, and carries out the
// three ways of deleting an owner: background (the owner goes, then what it owned),
// foreground (what it owned goes, then the owner) and orphan (what it owned stays).
//
// It watches the metadata of every deletable resource there is, custom ones included,
// and keeps a graph of who owns whom (graph.go). The graph only says where to look; what
// is done rests on a fresh read of the object and of the owners that the graph doesn't
// know (collect.go), judged by a pure function (plan.go).
//
//	watch of every resource → Graph.Observe / Graph.Forget → uids to look at
//	   → read → Decide → keep | drop references | delete | finish foreground
//
// Promises: nothing is deleted while one of its owners exists; an owner is looked for in
// the object's own namespace only, and by uid; an object is deleted only if it is still
// the one that was judged (uid and version are preconditions); a kind that discovery
// doesn't know right now means waiting, never deleting.
//
//	work := graph.Observe(garbagecollector.NewItem(resource, kind, object))
//	action := garbagecollector.Decide(item, owners, dependents)
//
// Next: controllers/namespace.
package garbagecollector
