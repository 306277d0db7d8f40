package kubelet

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// order lets a pod's containers end one after the other: the main ones together, then the sidecars, the last one
// first, so that each can serve the others to their end.
type order struct {
	ends map[string]*sync.Once
	done map[string]chan struct{}
	// before lists whose end a container waits for.
	before map[string][]string
}

// newOrder returns nil for a pod without sidecars.
func newOrder(pod *v1.Pod, running []*runtime.Container) *order {
	isRunning := map[string]bool{}
	for _, c := range running {
		isRunning[c.Name] = true
	}
	var first []string
	for i := range pod.Spec.Containers {
		if name := pod.Spec.Containers[i].Name; isRunning[name] {
			first = append(first, name)
		}
	}
	o := &order{ends: map[string]*sync.Once{}, done: map[string]chan struct{}{}, before: map[string][]string{}}
	sidecars := false
	for i := len(pod.Spec.InitContainers) - 1; i >= 0; i-- {
		container := &pod.Spec.InitContainers[i]
		if podspec.IsSidecar(container) && isRunning[container.Name] {
			sidecars = true
			o.before[container.Name] = append([]string(nil), first...)
			first = append(first, container.Name)
		}
	}
	if !sidecars {
		return nil
	}
	for name := range isRunning {
		o.ends[name], o.done[name] = &sync.Once{}, make(chan struct{})
	}
	return o
}

// await returns when the container's turn has come, or when its time is up.
func (o *order) await(ctx context.Context, clock clock.Clock, name string, deadline time.Time) {
	timeout := clock.After(deadline.Sub(clock.Now()))
	for _, other := range o.before[name] {
		select {
		case <-o.done[other]:
		case <-timeout:
			return
		case <-ctx.Done():
			return
		}
	}
}

// ended lets those go on that wait for the container.
func (o *order) ended(name string) {
	o.ends[name].Do(func() { close(o.done[name]) })
}
