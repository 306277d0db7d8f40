package controllers

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kogge-dev/kogge/internal/handover"
)

// syncPatience bounds how long a question whether something is synced waits for a yes. Who asks asks again after
// a tenth of a second, which is most of what a start takes: an answer that comes with the event saves it.
const syncPatience = 100 * time.Millisecond

// newCache makes the controllers' cache, whose informers log to the given logger.
func newCache(logger logr.Logger) cache.NewCacheFunc {
	return func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		sharer, err := handover.New(config)
		if err != nil {
			return nil, err
		}
		o.NewInformer = newInformers(logger, sharing{sharer, o.Scheme, o.Mapper})
		c, err := cache.New(config, o)
		return &promptCache{Cache: c}, err
	}
}

// promptCache lets a controller begin when its own informers are synced. Left alone, each would wait for those of all others: until then the cache is
// asked, not only the informer. Who reads of a kind still waits for the informer of that kind.
type promptCache struct {
	cache.Cache
	running atomic.Bool
}

// WaitForCacheSync waits once, for the cache to run and for what there was before it did.
func (c *promptCache) WaitForCacheSync(ctx context.Context) bool {
	if c.running.Load() {
		return ctx.Err() == nil
	}
	synced := c.Cache.WaitForCacheSync(ctx)
	c.running.Store(synced)
	return synced
}

// promptInformer is an informer that logs to the logger of its cluster, and says at once when it is synced. Left alone it
// would log to one that all clusters of a process share, and complain when nobody has set it.
type promptInformer struct {
	toolscache.SharedIndexInformer
	logger logr.Logger
}

// newInformers makes informers that log to the given logger.
func newInformers(logger logr.Logger, s sharing) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(source toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return &promptInformer{SharedIndexInformer: toolscache.NewSharedIndexInformer(s.source(source, example), example, resync, indexers), logger: logger}
	}
}

// RunWithContext runs the informer with its logger until ctx ends.
func (i *promptInformer) RunWithContext(ctx context.Context) {
	i.SharedIndexInformer.RunWithContext(logr.NewContext(ctx, i.logger))
}

// HasSynced waits a moment for the informer to be synced. It may be asked before it runs: it is about to.
func (i *promptInformer) HasSynced() bool { return soon(i.HasSyncedChecker()) }

// AddEventHandlerWithOptions adds a handler, whose registration says at once when it is synced.
func (i *promptInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	r, err := i.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
	if err != nil {
		return nil, err
	}
	return promptRegistration{r}, nil
}

// RemoveEventHandler removes a handler.
func (i *promptInformer) RemoveEventHandler(r toolscache.ResourceEventHandlerRegistration) error {
	if p, ok := r.(promptRegistration); ok {
		r = p.ResourceEventHandlerRegistration
	}
	return i.SharedIndexInformer.RemoveEventHandler(r)
}

type promptRegistration struct {
	toolscache.ResourceEventHandlerRegistration
}

// HasSynced waits a moment for the handler to have seen what was there.
func (r promptRegistration) HasSynced() bool { return soon(r.HasSyncedChecker()) }

// soon waits a moment for a yes.
func soon(c toolscache.DoneChecker) bool {
	select {
	case <-c.Done():
		return true
	default:
	}
	timer := time.NewTimer(syncPatience)
	defer timer.Stop()
	select {
	case <-c.Done():
		return true
	case <-timer.C:
		return false
	}
}
