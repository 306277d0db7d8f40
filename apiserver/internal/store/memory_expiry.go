package store

import (
	"container/heap"
	"time"
)

// dying are the keys whose life is bounded, the next to end first.
type dying struct {
	queue   deadlines
	running bool
	wake    chan struct{} // holds a token when the next to end is another
}

type deadline struct {
	at  time.Time
	key *record
}

// bound has a key end when its time is up. The caller holds mu.
func (m *memory) bound(r *record) {
	if r.ttl <= 0 {
		return
	}
	d := deadline{at: m.clock.Now().Add(time.Duration(r.ttl) * time.Second), key: r}
	heap.Push(&m.dying.queue, d)
	if !m.dying.running {
		m.dying.running = true
		go m.expire()
	}
	if m.dying.queue[0] == d {
		select {
		case m.dying.wake <- struct{}{}:
		default:
		}
	}
}

// expire deletes keys whose time is up, until the store is closed.
func (m *memory) expire() {
	for {
		m.mu.Lock()
		pause := m.expired()
		m.mu.Unlock()
		timer := m.clock.NewTimer(pause)
		select {
		case <-timer.C():
		case <-m.dying.wake:
		case <-m.closed:
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// idle is how long the end of keys is not looked at when there is none.
const idle = time.Hour

// expired deletes the keys whose time is up and says how long the next has. The caller holds mu.
func (m *memory) expired() time.Duration {
	now, revision := m.clock.Now(), m.revision.Load()
	for len(m.dying.queue) > 0 {
		next := m.dying.queue[0]
		if left := next.at.Sub(now); left > 0 {
			return left
		}
		heap.Pop(&m.dying.queue)
		if present, there := m.tree.Get(next.key.Key); there && present == next.key {
			revision++
			m.put(&record{KV: KV{Key: next.key.Key}}, revision)
			m.publish(revision)
		}
	}
	return idle
}

// deadlines is a heap.
type deadlines []deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }

// Push adds a deadline.
func (d *deadlines) Push(x any) { *d = append(*d, x.(deadline)) }

// Pop takes the last.
func (d *deadlines) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}
