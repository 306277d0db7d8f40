package backends

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Clockwork works out when the change happened that a new list of endpoints is about:
// the earliest of all that came since the last look. The proxy measures with it how
// long a change takes to reach the packets. The zero value is ready to use.
type Clockwork struct {
	mu    sync.Mutex
	known map[types.NamespacedName]seen
}

// seen is what a Service's endpoints were made from last time.
type seen struct {
	service time.Time
	pods    map[string]time.Time
}

// TriggerTime gives the time of the earliest change since the last call for the same
// Service; zero when nothing that has a time has changed. Of a Service seen for the
// first time it is the creation.
func (c *Clockwork) TriggerTime(service *corev1.Service, pods []corev1.Pod) time.Time {
	next := seen{service: service.CreationTimestamp.Time, pods: make(map[string]time.Time, len(pods))}
	for i := range pods {
		if ready := podstate.Condition(&pods[i], corev1.PodReady); ready != nil {
			next.pods[pods[i].Name] = ready.LastTransitionTime.Time
		}
	}
	key := types.NamespacedName{Namespace: service.Namespace, Name: service.Name}
	c.mu.Lock()
	last, known := c.known[key]
	if c.known == nil {
		c.known = map[types.NamespacedName]seen{}
	}
	c.known[key] = next
	c.mu.Unlock()
	if !known {
		return service.CreationTimestamp.Time
	}
	return earliestChange(last, next)
}

func earliestChange(last, next seen) (earliest time.Time) {
	consider := func(before, now time.Time) {
		if now.After(before) && (earliest.IsZero() || now.Before(earliest)) {
			earliest = now
		}
	}
	for name, now := range next.pods {
		consider(last.pods[name], now)
	}
	consider(last.service, next.service)
	return earliest
}

// Forget drops a Service that is gone.
func (c *Clockwork) Forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, key)
}
