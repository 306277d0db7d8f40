package controllers

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
)

// syncPatience bounds how long a question whether something is synced waits for a yes. Who asks asks again after
// a tenth of a second, which is most of what a start takes: an answer that comes with the event saves it.
const syncPatience = 100 * time.Millisecond

// promptInformer is an informer that logs to the logger of its cluster, and says at once when it is synced. Left alone it
// would log to one that all clusters of a process share, and complain when nobody has set it.
type promptInformer struct {
	toolscache.SharedIndexInformer
	logger  logr.Logger
	started chan struct{} // closed when it runs
}

// newInformers makes informers that log to the given logger.
func newInformers(logger logr.Logger) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(source toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return &promptInformer{
			SharedIndexInformer: toolscache.NewSharedIndexInformer(source, example, resync, indexers),
			logger:              logger, started: make(chan struct{}),
		}
	}
}

// RunWithContext runs the informer with its logger until ctx ends.
func (i *promptInformer) RunWithContext(ctx context.Context) {
	close(i.started)
	i.SharedIndexInformer.RunWithContext(logr.NewContext(ctx, i.logger))
}

// HasSynced waits a moment for a running informer to be synced.
func (i *promptInformer) HasSynced() bool {
	select {
	case <-i.started:
		return soon(i.HasSyncedChecker())
	default:
		return i.SharedIndexInformer.HasSynced()
	}
}

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
	timer := time.NewTimer(syncPatience)
	defer timer.Stop()
	select {
	case <-c.Done():
		return true
	case <-timer.C:
		return false
	}
}
