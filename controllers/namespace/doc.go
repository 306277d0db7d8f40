// Package namespace empties a namespace that is being deleted, whatever it holds, and
// then lets it go.
//
// Pods go first and everything else only when they are gone, so that nothing that a
// running process relies on (a policy, a secret, a volume) disappears under it. The shell
// asks the server what namespaced resources there are each time, custom ones included;
// what it finds goes into a Report, from which conditions.go derives the conditions.
//
// Promises: the namespace goes only when a pass has seen every resource empty; a pass
// that couldn't ask (discovery down, a refused list) says so in a condition and is tried
// again.
//
//	conditions := namespace.Conditions(status.Conditions, report, now)
//	wait := namespace.Delay(now.Sub(deleted))
//
// Next: controllers/nodeipam.
package namespace
