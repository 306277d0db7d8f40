// Package scheduler finds a node for every pod that has none.
//
//	queue.Pop → snapshot → filter (find.go) → score → choose → assume → bind (bind.go)
//	                         │ none fits
//	                         └──► make room (preempt.go), explain (event, condition), back into the queue
//
// One goroutine places one pod after the other, each on a picture of the cluster that
// includes what it placed before; only writing the choice down happens beside it. The
// rules are plugins (scheduler/plugins); the packages queue, cache and framework are
// what they stand on. events.go tells the queue and the cache what the watches deliver.
//
// Promises: no pod is placed on a node that a rule refuses; of the nodes that pass, one
// with the best score; events, conditions and their texts are upstream's.
//
//	s, err := scheduler.New(scheduler.Options{Config: config, Logger: logger})
//	err = s.Run(ctx)
//
// Next: scheduler/queue.
package scheduler
