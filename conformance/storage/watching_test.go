package storage

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
)

// buffered events of a watch are delivered although it is stopped; as upstream's watches do.
const buffered = 100

// watching is a watch whose events a goroutine sends.
type watching struct {
	ctx    context.Context
	cancel context.CancelFunc
	events chan watch.Event
	once   sync.Once
}

func newWatching(ctx context.Context) *watching {
	utilflowcontrol.WatchInitialized(ctx)
	w := &watching{events: make(chan watch.Event, buffered)}
	w.ctx, w.cancel = context.WithCancel(ctx)
	return w
}

func (w *watching) ResultChan() <-chan watch.Event { return w.events }

func (w *watching) Stop() { w.cancel() }

// run sends what f tells until f returns; the error that ends it is the last event, unless the watcher has gone.
func (w *watching) run(f func(ctx context.Context, send func(watch.Event) error) error) {
	defer close(w.events)
	defer w.cancel()
	err := f(w.ctx, w.send)
	if err == nil || w.ctx.Err() != nil {
		return
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewInternalError(err)
	}
	s := status.Status()
	_ = w.send(watch.Event{Type: watch.Error, Object: (*metav1.Status)(&s)}) // nobody is left to be told of a failure
}

func (w *watching) send(e watch.Event) error {
	select {
	case w.events <- e:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// everySecond calls f until the function that it returns is called.
func everySecond(ctx context.Context, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = f(ctx) // asked again at the next tick
			}
		}
	}()
	return func() { cancel(); <-done }
}
