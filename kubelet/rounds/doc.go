// Package rounds does what must be done again and again, for many kubelets at once: renewing leases, looking at
// nodes.
//
// A Rounds has one timer for all its tasks and a few workers, so a task that waits costs no goroutine, and thousands
// of nodes never send their heartbeats all at the same moment. Each task says when it wants to be called again. A
// task never runs twice at once, and none is lost: one that is due while all workers are busy waits for its turn.
//
//	r := rounds.New(clock)
//	task := r.Add(ctx, func(ctx context.Context) time.Duration { … return 10 * time.Second })
//	err := r.Run(ctx, 2)
//
// Next: kubelet/node
package rounds
