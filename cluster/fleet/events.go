package fleet

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// Events of all nodes together: so many a second, and so many at once after a quiet time. Upstream's kubelet sends 50
// a second, 100 at once (--event-qps, --event-burst); ten nodes' worth is what a person can read, and thousands of
// pods that start must not wait for their events.
const (
	eventRate  = 50
	eventBurst = 1000
)

// sink sends events as long as there are not too many, and drops the rest, as a kubelet does.
type sink struct {
	record.EventSink
	clock clock.PassiveClock

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newSink(events typedcorev1.EventInterface, clock clock.PassiveClock) *sink {
	return &sink{EventSink: &typedcorev1.EventSinkImpl{Interface: events}, clock: clock, left: eventBurst, at: clock.Now()}
}

// Create implements record.EventSink.
func (s *sink) Create(event *corev1.Event) (*corev1.Event, error) {
	if !s.take() {
		return event, nil
	}
	return s.EventSink.Create(event)
}

// Patch implements record.EventSink.
func (s *sink) Patch(old *corev1.Event, data []byte) (*corev1.Event, error) {
	if !s.take() {
		return old, nil
	}
	return s.EventSink.Patch(old, data)
}

func (s *sink) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.left = min(eventBurst, s.left+eventRate*now.Sub(s.at).Seconds())
	s.at = now
	if s.left < 1 {
		return false
	}
	s.left--
	return true
}
