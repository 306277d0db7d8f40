package kubelet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// Grace periods in seconds: of a pod that names none, and the least that a container gets before it is killed.
const (
	defaultGrace = 30
	leastGrace   = 1
)

// stopping is a stop under way, of a container or of a whole pod. It runs beside the pod's worker, so that the
// status stays fresh and a shorter grace period can take its place.
type stopping struct {
	grace  int64
	cancel context.CancelFunc
	done   atomic.Bool
}

// begin runs stop in the background; when it has ended the pod is synced again.
func (k *Kubelet) begin(e *entry, grace int64, stop func(ctx context.Context) error) *stopping {
	ctx, cancel := context.WithCancel(k.background)
	s := &stopping{grace: grace, cancel: cancel}
	k.stopping.Add(1)
	go func() {
		defer k.stopping.Done()
		defer cancel()
		err := stop(ctx)
		s.done.Store(true)
		if err != nil && ctx.Err() == nil {
			k.logger.Error("stop", "uid", e.uid, "err", err)
			k.pool.TriggerAfter(e.uid, time.Second)
			return
		}
		k.pool.Trigger(e.uid)
	}()
	return s
}

// stopContainer stops one container of a pod that lives on.
func (k *Kubelet) stopContainer(e *entry, pod *v1.Pod, stop plan.Stop) {
	container, kind := podspec.Container(pod, stop.Name)
	if container == nil {
		return
	}
	grace := containerGrace(pod, container, stop.Reason)
	k.recordContainer(pod, stop.Name, kind, v1.EventTypeNormal, "Killing", stop.Message)
	if e.stops == nil {
		e.stops, e.replacing = map[string]*stopping{}, map[string]bool{}
	}
	if stop.Replace {
		e.replacing[stop.ContainerID] = true
	}
	e.stops[stop.ContainerID] = k.begin(e, grace, func(ctx context.Context) error {
		return k.end(ctx, pod, container, stop.ContainerID, grace, nil)
	})
}

// killPod stops everything of a pod with the grace period, unless that is being done with no longer one.
func (k *Kubelet) killPod(e *entry, pod *v1.Pod, observed *runtime.Pod, grace *int64) {
	effective := podGrace(pod, grace)
	if e.kill != nil && !e.kill.done.Load() {
		if e.kill.grace <= effective {
			return
		}
		e.kill.cancel()
	}
	running := observed.Running()
	for _, c := range running {
		_, kind := podspec.Container(pod, c.Name)
		k.recordContainer(pod, c.Name, kind, v1.EventTypeNormal, "Killing", fmt.Sprintf("Stopping container %s", c.Name))
	}
	order := newOrder(pod, running)
	e.kill = k.begin(e, effective, func(ctx context.Context) error {
		return k.endPod(ctx, pod, observed, running, order, effective)
	})
}

func (k *Kubelet) endPod(ctx context.Context, pod *v1.Pod, observed *runtime.Pod, running []*runtime.Container, order *order, grace int64) error {
	var wait sync.WaitGroup
	failures := make([]error, len(running))
	for i, c := range running {
		wait.Go(func() {
			container, _ := podspec.Container(pod, c.Name)
			if container == nil {
				container = rememberedContainer(c)
			}
			failures[i] = k.end(ctx, pod, container, c.ID, grace, order)
		})
	}
	wait.Wait()
	for _, err := range failures {
		if err != nil {
			k.recordPod(pod, v1.EventTypeWarning, "FailedKillPod", "error killing pod: "+err.Error())
			return fmt.Errorf("kill pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	for i := range observed.Sandboxes {
		if s := &observed.Sandboxes[i]; s.Ready {
			if err := k.runtime.StopSandbox(ctx, s.ID); err != nil {
				k.recordPod(pod, v1.EventTypeWarning, "FailedKillPod", "error killing pod: "+err.Error())
				return fmt.Errorf("stop sandbox of pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
	}
	return nil
}

// end runs the container's preStop hook, waits for its turn, and stops it. What hook and waiting take is taken from
// the grace period.
func (k *Kubelet) end(ctx context.Context, pod *v1.Pod, container *v1.Container, id string, grace int64, order *order) error {
	deadline := k.clock.Now().Add(time.Duration(grace) * time.Second)
	if grace > 0 {
		k.preStop(ctx, pod, container, id, grace)
	}
	if order != nil {
		order.await(ctx, k.clock, container.Name, deadline)
		defer order.ended(container.Name)
	}
	left := int64(deadline.Sub(k.clock.Now()).Round(time.Second) / time.Second)
	if err := k.runtime.StopContainer(ctx, id, max(left, leastGrace)); err != nil {
		return fmt.Errorf("stop container %s: %w", container.Name, err)
	}
	return nil
}

// podGrace is how long the pod's containers have: what its deletion says, else what it specifies.
func podGrace(pod *v1.Pod, override *int64) int64 {
	switch {
	case override != nil:
		return max(*override, leastGrace)
	case pod.DeletionGracePeriodSeconds != nil:
		return max(*pod.DeletionGracePeriodSeconds, leastGrace)
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return max(*pod.Spec.TerminationGracePeriodSeconds, leastGrace)
	default:
		return defaultGrace
	}
}

// containerGrace is podGrace, unless a probe that failed names a period of its own.
func containerGrace(pod *v1.Pod, container *v1.Container, reason plan.StopReason) int64 {
	var probe *v1.Probe
	switch reason {
	case plan.StopForLiveness:
		probe = container.LivenessProbe
	case plan.StopForStartup:
		probe = container.StartupProbe
	}
	if probe != nil && probe.TerminationGracePeriodSeconds != nil {
		return max(*probe.TerminationGracePeriodSeconds, leastGrace)
	}
	return podGrace(pod, nil)
}

// rememberedContainer stands in for a specification that is gone, from what the container's annotations keep.
func rememberedContainer(c *runtime.Container) *v1.Container {
	container := &v1.Container{Name: c.Name, Ports: c.Saved.Ports}
	if c.Saved.PreStop != nil {
		container.Lifecycle = &v1.Lifecycle{PreStop: c.Saved.PreStop}
	}
	return container
}
