package podworker

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Options of a Pool. Both are required.
type Options struct {
	Clock clock.WithDelayedExecution
	// Sync brings one pod closer to what it should be. It returns when it wants to be called again even if nothing
	// touches the pod: after that time, or never for 0. Its context ends when the Pool ends or the pod is
	// interrupted.
	Sync func(ctx context.Context, uid types.UID) time.Duration
}

// Pool holds the workers of one kubelet.
type Pool struct {
	options Options

	mu      sync.Mutex
	ctx     context.Context // nil until Run; workers start then
	pods    map[types.UID]*worker
	running sync.WaitGroup
}

// worker exists while its pod runs, waits to run, or has a timer.
type worker struct {
	busy bool
	// again says that the pod was touched since the run under way began.
	again  bool
	cancel context.CancelFunc
	timer  clock.Timer
	due    time.Time
}

// New returns a Pool whose workers start with Run.
func New(options Options) *Pool {
	return &Pool{options: options, pods: map[types.UID]*worker{}}
}

// Run lets the workers work until ctx ends, and returns when the last of them has returned.
func (p *Pool) Run(ctx context.Context) error {
	p.mu.Lock()
	p.ctx = ctx
	for uid, w := range p.pods {
		if w.again && !w.busy {
			p.start(uid, w)
		}
	}
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	for _, w := range p.pods {
		w.stopTimer()
	}
	p.mu.Unlock()
	p.running.Wait()
	return nil
}

// Trigger makes the pod's function run, again if it is running now.
func (p *Pool) Trigger(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trigger(uid)
}

// Interrupt is Trigger that also ends the context of the run under way.
func (p *Pool) Interrupt(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.pods[uid]; w != nil && w.cancel != nil {
		w.cancel()
	}
	p.trigger(uid)
}

// TriggerAfter makes the pod's function run after the delay, unless it is due earlier already.
func (p *Pool) TriggerAfter(uid types.UID, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.schedule(uid, p.worker(uid), delay)
}

// Forget drops the pod's timer. A run under way ends by itself.
func (p *Pool) Forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.pods[uid]; w != nil {
		w.stopTimer()
		w.again = false
		if !w.busy {
			delete(p.pods, uid)
		}
	}
}

func (p *Pool) worker(uid types.UID) *worker {
	w := p.pods[uid]
	if w == nil {
		w = &worker{}
		p.pods[uid] = w
	}
	return w
}

func (p *Pool) trigger(uid types.UID) {
	w := p.worker(uid)
	w.again = true
	w.stopTimer()
	if !w.busy && p.ctx != nil && p.ctx.Err() == nil {
		p.start(uid, w)
	}
}

func (p *Pool) start(uid types.UID, w *worker) {
	w.busy = true
	p.running.Add(1)
	go p.run(uid, w)
}

// run calls Sync as long as the pod is touched meanwhile.
func (p *Pool) run(uid types.UID, w *worker) {
	defer p.running.Done()
	for {
		p.mu.Lock()
		if !w.again || p.ctx.Err() != nil {
			w.busy, w.cancel = false, nil
			if w.timer == nil {
				delete(p.pods, uid)
			}
			p.mu.Unlock()
			return
		}
		w.again = false
		ctx, cancel := context.WithCancel(p.ctx)
		w.cancel = cancel
		p.mu.Unlock()
		delay := p.options.Sync(ctx, uid)
		cancel()
		p.mu.Lock()
		if delay > 0 && !w.again {
			p.schedule(uid, w, delay)
		}
		p.mu.Unlock()
	}
}

// schedule sets the pod's timer unless it is set to an earlier time.
func (p *Pool) schedule(uid types.UID, w *worker, delay time.Duration) {
	due := p.options.Clock.Now().Add(delay)
	if w.timer != nil && !w.due.After(due) {
		return
	}
	w.stopTimer()
	w.due = due
	var timer clock.Timer
	// In a goroutine: a clock may call back while it holds a lock that asking for the time needs.
	timer = p.options.Clock.AfterFunc(delay, func() { go p.fire(uid, w, &timer) })
	w.timer = timer
}

// fire is called when a timer is due. One that was replaced meanwhile says nothing any more.
func (p *Pool) fire(uid types.UID, w *worker, timer *clock.Timer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.timer == *timer && p.pods[uid] == w {
		p.trigger(uid)
	}
}

func (w *worker) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}
