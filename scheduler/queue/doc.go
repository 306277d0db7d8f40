// Package queue holds the pods that wait for a node.
//
//	           ┌────────► active ──Pop──► being tried ──► placed (Done)
//	Add ───────┤             ▲                │
//	           │          time over           │ refused
//	           ▼             │                ▼
//	         gated        backoff ◄─event─ unschedulable ──5 min──► active
//
// Active pods come by priority, then by age. A pod that was refused waits until something
// happens that might change the mind of a plugin that refused it; it then backs off, 1 s
// after the first attempt and twice that after each further one up to 10 s, but is tried
// earlier if there is nothing else to do.
//
// Promises: no event is lost: what happens while a pod is being tried counts for it when it
// is refused; a pod stands in one place at a time. Safe for concurrent use; Pop is meant
// for one goroutine.
//
//	q := queue.New(queue.Options{Clock: clock, Helps: profile.Helps, PreEnqueue: profile.PreEnqueue})
//	entry, err := q.Pop(ctx)
//	q.Refuse(entry, failed.Plugins)
//
// Next: scheduler/cache.
package queue
