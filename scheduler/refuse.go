package scheduler

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// maxNote is how long the text of an event may be, in bytes.
const maxNote = 1024

// refuse puts a pod that could not be placed back into the queue, and says why: as an
// event and in its PodScheduled condition.
func (s *Scheduler) refuse(ctx context.Context, c *cycle, reason error) {
	tried := c.entry.Pod
	pod, err := s.pods.Pods(tried.Namespace).Get(tried.Name)
	if err != nil || pod.UID != tried.UID || pod.Spec.NodeName != "" {
		s.queue.Done(tried.UID) // gone, replaced, or placed after all
		return
	}
	nominated := ""
	switch {
	case c.preemption != nil:
		nominated = c.preemption.Node
	case c.keepsNomination:
		nominated = s.nominated.NodeOf(pod.UID)
	}
	s.nominate(pod, nominated)
	if failed, ok := errors.AsType[*framework.Failed](reason); ok {
		s.queue.Refuse(c.entry, pod, failed.Plugins)
	} else if isUnschedulable(reason) {
		s.queue.Refuse(c.entry, pod, nil)
	} else {
		s.queue.Fail(c.entry, pod)
		s.logger.Error("could not schedule; will retry", "pod", pod.Namespace+"/"+pod.Name, "error", reason)
	}
	if c.preemption != nil {
		s.preempt(ctx, c)
	}
	message := reason.Error()
	s.recorders[pod.Spec.SchedulerName].Eventf(pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", shortened(message))
	s.report(ctx, pod, func(pod *corev1.Pod) error {
		return s.setCondition(ctx, pod, reasonOf(reason), message, nominated)
	})
}

// report has something written about a pod, as it is then, beside the placing of others.
func (s *Scheduler) report(ctx context.Context, pod *corev1.Pod, write func(*corev1.Pod) error) {
	work := s.reports.add(pod.UID, func() {
		now, err := s.pods.Pods(pod.Namespace).Get(pod.Name)
		if err != nil || now.UID != pod.UID || now.Spec.NodeName != "" {
			return // gone, replaced, or placed after all
		}
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		if err := write(now); err != nil && ctx.Err() == nil {
			s.logger.Warn("could not report that a pod can't be scheduled", "pod", pod.Namespace+"/"+pod.Name, "error", err)
		}
	})
	if work != nil {
		s.binding.Go(work)
	}
}

func shortened(message string) string {
	const dots = " ..."
	if len(message) <= maxNote {
		return message
	}
	return message[:maxNote-len(dots)] + dots
}

// setCondition writes the condition and the nominated node, unless they say the same
// already.
func (s *Scheduler) setCondition(ctx context.Context, pod *corev1.Pod, reason, message, nominated string) error {
	next := corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(s.clock.Now()),
	}
	status := map[string]any{}
	same := false
	for _, present := range pod.Status.Conditions {
		if present.Type != next.Type {
			continue
		}
		if present.Status == next.Status {
			next.LastTransitionTime = present.LastTransitionTime
		}
		next.LastProbeTime = present.LastProbeTime
		same = present == next
	}
	if !same {
		status["conditions"] = []corev1.PodCondition{next}
	}
	if nominated != pod.Status.NominatedNodeName {
		status["nominatedNodeName"] = nominated
	}
	if len(status) == 0 {
		return nil
	}
	return s.patchStatus(ctx, pod, status)
}
