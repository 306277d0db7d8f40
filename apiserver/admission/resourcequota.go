package admission

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/internal/quota"
)

// Quotas reads and charges the ResourceQuotas of the store.
type Quotas interface {
	// Any says whether a namespace has quotas, as far as is known without waiting.
	Any(namespace string) bool
	// List gives a namespace's quotas by name, with every write that was acknowledged.
	List(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error)
	// Charge writes a quota's status; it is a conflict if the quota has changed meanwhile.
	Charge(ctx context.Context, q *corev1.ResourceQuota) error
}

const (
	// quotaTimeout is how long a write waits to be charged for. Upstream's bound.
	quotaTimeout = 10 * time.Second
	// quotaAttempts is how often a batch is tried while others change its quotas.
	quotaAttempts = 4
)

// UseQuotas adds the last plugin, ResourceQuota: it charges what passes to the quotas of
// its namespace, and refuses what exceeds them.
func (c *Chain) UseQuotas(quotas Quotas, now func() time.Time) {
	l := &lanes{quotas: quotas, now: now, waiting: map[string][]*bill{}}
	c.plugins = append(c.plugins, plugin{name: "ResourceQuota", validate: l.validate})
}

// lanes settle one batch of writes after the other in each namespace, so that writes at
// the same time don't fight for a quota's version: a thousand cost a handful of updates.
type lanes struct {
	quotas Quotas
	now    func() time.Time

	mu sync.Mutex
	// waiting has a key for each namespace that is being served.
	waiting map[string][]*bill
}

// bill is one write to charge for; paid gets the verdict.
type bill struct {
	a    *registry.Attributes
	paid chan error
}

func (l *lanes) validate(ctx context.Context, a *registry.Attributes) error {
	if !a.Resource.Namespaced || !chargeable(a) || !l.quotas.Any(a.Namespace) {
		return nil
	}
	b := &bill{a: a, paid: make(chan error, 1)}
	l.mu.Lock()
	queue, served := l.waiting[a.Namespace]
	l.waiting[a.Namespace] = append(queue, b)
	l.mu.Unlock()
	if !served {
		go l.serve(context.WithoutCancel(ctx), a.Namespace)
	}
	timeout := time.NewTimer(quotaTimeout)
	defer timeout.Stop()
	select {
	case err := <-b.paid:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return apierrors.NewInternalError(errors.New("resource quota evaluation timed out"))
	}
}

// chargeable says that a write may change what is used.
func chargeable(a *registry.Attributes) bool {
	resource := a.Resource.GR()
	if quota.Ignored(resource) || a.Object == nil {
		return false
	}
	switch a.Operation {
	case registry.Create:
		return a.Subresource == ""
	case registry.Update:
		return a.Old != nil && quota.For(resource).ChargesUpdate(a.Subresource, a.Object, a.Old)
	}
	return false
}

// serve settles a namespace's bills until there are none.
func (l *lanes) serve(ctx context.Context, namespace string) {
	for {
		l.mu.Lock()
		batch := l.waiting[namespace]
		if len(batch) == 0 {
			delete(l.waiting, namespace)
			l.mu.Unlock()
			return
		}
		l.waiting[namespace] = nil
		l.mu.Unlock()
		l.settle(ctx, namespace, batch)
	}
}

// settle gives every bill of a batch its verdict.
func (l *lanes) settle(ctx context.Context, namespace string, batch []*bill) {
	ctx, cancel := context.WithTimeout(ctx, quotaTimeout)
	defer cancel()
	quotas, err := l.quotas.List(ctx, namespace)
	for attempt := 1; err == nil && len(batch) > 0; attempt++ {
		charged, pending := l.chargeAll(quotas, batch)
		batch = pending
		failed := map[string]bool{}
		var last error
		for i, q := range charged {
			if q == quotas[i] || len(batch) == 0 {
				continue
			}
			if failure := l.quotas.Charge(ctx, q); failure != nil {
				failed[q.Name], last = true, failure
			}
		}
		if len(failed) == 0 {
			break
		}
		if attempt == quotaAttempts {
			err = last
			break
		}
		// Only those that couldn't be charged are looked at again: the others have been.
		var fresh []*corev1.ResourceQuota
		fresh, err = l.quotas.List(ctx, namespace)
		quotas = nil
		for _, q := range fresh {
			if failed[q.Name] {
				quotas = append(quotas, q)
			}
		}
	}
	for _, b := range batch {
		b.paid <- err
	}
}

// chargeAll gives the quotas with all bills that fit charged, and the bills that wait for
// them to be written. All others have their verdict.
func (l *lanes) chargeAll(quotas []*corev1.ResourceQuota, batch []*bill) (charged []*corev1.ResourceQuota, pending []*bill) {
	charged = quotas
	for _, b := range batch {
		next, err := charge(charged, b.a, l.now())
		switch {
		case err != nil:
			b.paid <- err
		case b.a.DryRun || same(charged, next):
			b.paid <- nil
		default:
			charged = next
			pending = append(pending, b)
		}
	}
	return charged, pending
}

func same(a, b []*corev1.ResourceQuota) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
