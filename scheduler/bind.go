package scheduler

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// bind makes ready what the pod needs and writes the choice down. It runs beside the placing
// of other pods, which count on it: should it fail, the room is given back and pods that
// were refused for it are told.
func (s *Scheduler) bind(ctx context.Context, c *cycle, node string) {
	pod := c.entry.Pod
	s.reports.settle(pod.UID)
	status := s.prepare(ctx, c, node)
	if status.IsSuccess() {
		s.slots <- struct{}{}
		status = c.profile.Bind(ctx, c.state, c.pod, node)
		<-s.slots
	}
	if !status.IsSuccess() {
		c.profile.Unreserve(ctx, c.state, c.pod, node)
		s.cache.Forget(pod)
		s.queue.Happened(framework.Event{Change: framework.PodGone, PodBefore: pod})
		s.refuse(ctx, c, status.AsError())
		return
	}
	s.recorders[pod.Spec.SchedulerName].Eventf(pod, nil, corev1.EventTypeNormal, "Scheduled", "Binding",
		"Successfully assigned %v/%v to %v", pod.Namespace, pod.Name, node)
}

// prepare has made ready what must be there before the pod is bound. Since that may take
// long, it is said in the pod's status where the pod is about to go.
func (s *Scheduler) prepare(ctx context.Context, c *cycle, node string) *framework.Status {
	if !c.profile.NeedsPreBind(c.state, node) {
		return nil
	}
	if err := s.patchStatus(ctx, c.entry.Pod, map[string]any{"nominatedNodeName": node}); err != nil {
		s.logger.Warn("could not say where a pod is about to be bound", "pod", c.entry.Pod.Namespace+"/"+c.entry.Pod.Name, "node", node, "error", err)
	}
	return c.profile.PreBind(ctx, c.state, c.pod, node)
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
