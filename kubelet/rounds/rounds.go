package rounds

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Rounds calls tasks when they are due.
type Rounds struct {
	clock clock.WithTicker
	// changed holds a token when the first due time may have changed.
	changed chan struct{}
	due     chan *Task

	mu      sync.Mutex
	waiting queue
}

// Task is called again and again until it is removed.
type Task struct {
	rounds *Rounds
	ctx    context.Context
	do     func(context.Context) time.Duration

	// The rest is guarded by the lock of Rounds.
	at       time.Time
	position int // in the queue; -1 outside
	// touched says that the task is to be done at once after the run under way.
	touched bool
	removed bool
	running sync.WaitGroup
}

// New returns a Rounds that calls nobody until it runs.
func New(clock clock.WithTicker) *Rounds {
	return &Rounds{clock: clock, changed: make(chan struct{}, 1), due: make(chan *Task)}
}

// Add has do called at once, and then each time after what it returned, until ctx ends or the task is removed.
func (r *Rounds) Add(ctx context.Context, do func(context.Context) time.Duration) *Task {
	return r.add(ctx, 0, do)
}

// After has do called once, after the delay, unless ctx ends or the task is removed before.
func (r *Rounds) After(ctx context.Context, delay time.Duration, do func(context.Context)) *Task {
	return r.add(ctx, delay, func(ctx context.Context) time.Duration {
		do(ctx)
		return never
	})
}

// never is what a task returns that is done for good.
const never = -1

func (r *Rounds) add(ctx context.Context, delay time.Duration, do func(context.Context) time.Duration) *Task {
	t := &Task{rounds: r, ctx: ctx, do: do, position: -1}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(t, r.clock.Now().Add(delay))
	return t
}

// Touch makes the task due now.
func (t *Task) Touch() {
	r := t.rounds
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.removed {
		return
	}
	if t.position < 0 {
		t.touched = true // it runs, or is about to
		return
	}
	t.at = r.clock.Now()
	heap.Fix(&r.waiting, t.position)
	r.wake()
}

// Remove takes the task out and returns when a run under way has ended; not to be called by the task itself.
func (t *Task) Remove() {
	r := t.rounds
	r.mu.Lock()
	t.removed = true
	if t.position >= 0 {
		heap.Remove(&r.waiting, t.position)
	}
	r.mu.Unlock()
	t.running.Wait()
}

// Run calls tasks, so many at once, until ctx ends and the last has returned.
func (r *Rounds) Run(ctx context.Context, workers int) error {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { r.work(ctx) })
	}
	r.dispatch(ctx)
	group.Wait()
	return nil
}

// dispatch hands each task to a worker when it is due.
func (r *Rounds) dispatch(ctx context.Context) {
	for ctx.Err() == nil {
		task, wait := r.next()
		if task != nil {
			select {
			case r.due <- task:
			case <-ctx.Done():
				task.running.Done()
			}
			continue
		}
		var expired <-chan time.Time
		stop := func() bool { return true }
		if wait > 0 {
			timer := r.clock.NewTimer(wait)
			expired, stop = timer.C(), timer.Stop
		}
		select {
		case <-expired:
		case <-r.changed:
		case <-ctx.Done():
		}
		stop()
	}
}

// next takes the task that is due, or returns how long there is to wait for one; 0 for ever.
func (r *Rounds) next() (*Task, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		return nil, 0
	}
	first := r.waiting[0]
	if wait := first.at.Sub(r.clock.Now()); wait > 0 {
		return nil, wait
	}
	heap.Pop(&r.waiting)
	first.running.Add(1)
	return first, 0
}

func (r *Rounds) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case task := <-r.due:
			r.do(task)
		}
	}
}

// do calls the task and queues it again.
func (r *Rounds) do(t *Task) {
	defer t.running.Done()
	if t.ctx.Err() != nil {
		return
	}
	wait := t.do(t.ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.removed || t.ctx.Err() != nil || wait == never {
		return
	}
	if t.touched {
		t.touched, wait = false, 0
	}
	r.put(t, r.clock.Now().Add(wait))
}

// put queues a task; the caller holds the lock.
func (r *Rounds) put(t *Task, at time.Time) {
	t.at = at
	heap.Push(&r.waiting, t)
	if t.position == 0 {
		r.wake()
	}
}

func (r *Rounds) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// queue is a heap of tasks; the one due first comes first.
type queue []*Task

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].position, q[j].position = i, j
}

func (q *queue) Push(x any) {
	t, ok := x.(*Task)
	if !ok {
		return
	}
	t.position = len(*q)
	*q = append(*q, t)
}

func (q *queue) Pop() any {
	old := *q
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*q, t.position = old[:len(old)-1], -1
	return t
}
