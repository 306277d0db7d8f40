package controllers

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
)

// loggingInformer is an informer that logs to the logger of its cluster. Left alone it
// would log to one that all clusters of a process share, and complain when nobody has set
// it.
type loggingInformer struct {
	toolscache.SharedIndexInformer
	logger logr.Logger
}

// newInformers makes informers that log to the given logger.
func newInformers(logger logr.Logger) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(source toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		return &loggingInformer{
			SharedIndexInformer: toolscache.NewSharedIndexInformer(source, example, resync, indexers),
			logger:              logger,
		}
	}
}

// RunWithContext runs the informer with its logger until ctx ends.
func (i *loggingInformer) RunWithContext(ctx context.Context) {
	i.SharedIndexInformer.RunWithContext(logr.NewContext(ctx, i.logger))
}
