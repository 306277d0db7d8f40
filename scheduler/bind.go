package scheduler

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// bind writes a choice down. It runs beside the placing of other pods, which count on it:
// should it fail, the room is given back and pods that were refused for it are told.
func (s *Scheduler) bind(ctx context.Context, c *cycle, node string) {
	pod := c.entry.Pod
	if status := c.profile.Bind(ctx, c.state, c.pod, node); !status.IsSuccess() {
		c.profile.Unreserve(ctx, c.state, c.pod, node)
		s.cache.Forget(pod)
		s.queue.Happened(framework.Event{Change: framework.PodGone, PodBefore: pod})
		s.refuse(ctx, c, bindError(status))
		return
	}
	s.events.Eventf(pod, nil, corev1.EventTypeNormal, "Scheduled", "Binding",
		"Successfully assigned %v/%v to %v", pod.Namespace, pod.Name, node)
}

// giveBack undoes a choice that a plugin refused after it was made.
func (s *Scheduler) giveBack(ctx context.Context, c *cycle, node string, status *framework.Status) {
	c.profile.Unreserve(ctx, c.state, c.pod, node)
	s.cache.Forget(c.entry.Pod)
	if !status.IsRejected() {
		s.refuse(ctx, c, status.AsError())
		return
	}
	failed := framework.NewFailed(len(s.snapshot.Nodes()))
	failed.Refuse(node, status)
	s.refuse(ctx, c, failed)
}
