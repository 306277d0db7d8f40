package queue

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

const (
	// patience is how long a refused pod waits for an event before it is tried anyway: a
	// safeguard against events that nobody thought of.
	patience = 5 * time.Minute
)

// Entry is a pod that waits or is being tried.
type Entry struct {
	Pod *corev1.Pod
	// Added is when it first came; it keeps its place among its like.
	Added time.Time
	// Attempts is how often it has been tried.
	Attempts int
	// refused are the plugins that refused it last; empty after an error.
	refused map[string]bool
	// waiting is since when it stands where it does, ready when its backoff is over.
	waiting, ready time.Time
	// patient says that it was an error and not a refusal, so the backoff is kept even
	// when there is nothing else to do.
	patient bool
}

// Options is what New needs.
type Options struct {
	Clock clock.Clock
	// PreEnqueue refuses pods that mayn't be tried at all yet.
	PreEnqueue func(*corev1.Pod) *framework.Status
	// Helps says whether an event may help a pod that these plugins refused.
	Helps func(pod *corev1.Pod, refused map[string]bool, event framework.Event) bool
	// MinBackoff is how long a refused pod waits at least before it is tried again, doubled
	// with every try up to MaxBackoff.
	MinBackoff, MaxBackoff time.Duration
}

// Queue is the pods that wait.
//
// Invariant: a uid is in at most one of active, backoff, unschedulable and gated; while in
// trying, in none of them.
type Queue struct {
	clock      clock.Clock
	preEnqueue func(*corev1.Pod) *framework.Status
	helps      func(*corev1.Pod, map[string]bool, framework.Event) bool
	minBackoff time.Duration
	maxBackoff time.Duration
	wake       chan struct{}

	mu            sync.Mutex
	active        *ordered
	backoff       *ordered
	unschedulable map[types.UID]*Entry
	gated         map[types.UID]*Entry
	// trying are the pods being tried. events are those that some of them hasn't seen, the
	// first numbered firstEvent.
	trying     map[types.UID]try
	events     []framework.Event
	firstEvent int
}

// try is a pod as it was taken out, and the number of the first event that it hasn't seen.
type try struct {
	pod  *corev1.Pod
	from int
}

// New is an empty queue.
func New(options Options) *Queue {
	return &Queue{
		clock: options.Clock, preEnqueue: options.PreEnqueue, helps: options.Helps,
		minBackoff: options.MinBackoff, maxBackoff: options.MaxBackoff,
		wake:          make(chan struct{}, 1),
		active:        newOrdered(moreUrgent),
		backoff:       newOrdered(func(a, b *Entry) bool { return a.ready.Before(b.ready) }),
		unschedulable: map[types.UID]*Entry{},
		gated:         map[types.UID]*Entry{},
		trying:        map[types.UID]try{},
	}
}

// moreUrgent is the order of PrioritySort: by priority, then by age.
func moreUrgent(a, b *Entry) bool {
	if pa, pb := framework.Priority(a.Pod), framework.Priority(b.Pod); pa != pb {
		return pa > pb
	}
	return a.Added.Before(b.Added)
}

// Backoff is how long a pod waits after so many attempts, at least least and at most most.
func Backoff(attempts int, least, most time.Duration) time.Duration {
	wait := least
	for range attempts - 1 {
		if wait *= 2; wait >= most {
			return most
		}
	}
	return wait
}

// Pop waits for a pod to try and takes it out. It fails only when ctx ends.
func (q *Queue) Pop(ctx context.Context) (*Entry, error) {
	for {
		entry, next := q.take()
		if entry != nil {
			return entry, nil
		}
		var timer <-chan time.Time
		if next > 0 {
			timer = q.clock.After(next)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-q.wake:
		case <-timer:
		}
	}
}

// take gives the next pod, or how long until there may be one (0: until something wakes).
func (q *Queue) take() (entry *Entry, next time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.ripen(now)
	if entry = q.active.first(); entry == nil {
		if entry = q.backoff.first(); entry == nil || entry.patient {
			return nil, q.untilRipe(now)
		}
		q.backoff.remove(entry.Pod.UID)
	} else {
		q.active.remove(entry.Pod.UID)
	}
	entry.Attempts++
	q.trying[entry.Pod.UID] = try{pod: entry.Pod, from: q.firstEvent + len(q.events)}
	return entry, 0
}

// ripen makes those active whose time has come.
func (q *Queue) ripen(now time.Time) {
	for entry := q.backoff.first(); entry != nil && !entry.ready.After(now); entry = q.backoff.first() {
		q.active.push(q.backoff.remove(entry.Pod.UID))
	}
	for uid, entry := range q.unschedulable {
		if now.Sub(entry.waiting) >= patience {
			delete(q.unschedulable, uid)
			q.active.push(entry)
		}
	}
}

func (q *Queue) untilRipe(now time.Time) (next time.Duration) {
	consider := func(at time.Time) {
		if wait := max(at.Sub(now), time.Nanosecond); next == 0 || wait < next {
			next = wait
		}
	}
	if entry := q.backoff.first(); entry != nil {
		consider(entry.ready)
	}
	for _, entry := range q.unschedulable {
		consider(entry.waiting.Add(patience))
	}
	return next
}

func (q *Queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Waiting is how many pods stand in the queue in any place, those being tried left out.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.active.Len() + q.backoff.Len() + len(q.unschedulable) + len(q.gated)
}
