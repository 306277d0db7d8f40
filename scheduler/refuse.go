package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// maxNote is how long the text of an event may be, in bytes.
const maxNote = 1024

func bindError(status *framework.Status) error {
	return fmt.Errorf("binding rejected: %w", status.AsError())
}

// refuse puts a pod that could not be placed back into the queue, and says why: as an
// event and in its PodScheduled condition.
func (s *Scheduler) refuse(ctx context.Context, c *cycle, reason error) {
	tried := c.entry.Pod
	pod, err := s.pods.Pods(tried.Namespace).Get(tried.Name)
	if err != nil || pod.UID != tried.UID || pod.Spec.NodeName != "" {
		s.queue.Done(tried.UID) // gone, replaced, or placed after all
		return
	}
	if failed, ok := errors.AsType[*framework.Failed](reason); ok {
		s.queue.Refuse(c.entry, pod, failed.Plugins)
	} else if isUnschedulable(reason) {
		s.queue.Refuse(c.entry, pod, nil)
	} else {
		s.queue.Fail(c.entry, pod)
		s.logger.Error("could not schedule; will retry", "pod", pod.Namespace+"/"+pod.Name, "error", reason)
	}
	message := reason.Error()
	s.events.Eventf(pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", shortened(message))
	if err := s.setCondition(ctx, pod, reasonOf(reason), message); err != nil && ctx.Err() == nil {
		s.logger.Warn("could not report that a pod can't be scheduled", "pod", pod.Namespace+"/"+pod.Name, "error", err)
	}
}

func shortened(message string) string {
	const dots = " ..."
	if len(message) <= maxNote {
		return message
	}
	return message[:maxNote-len(dots)] + dots
}

// setCondition writes the condition, unless it says the same already.
func (s *Scheduler) setCondition(ctx context.Context, pod *corev1.Pod, reason, message string) error {
	next := corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message,
		ObservedGeneration: pod.Generation, LastTransitionTime: metav1.NewTime(s.clock.Now()),
	}
	for _, present := range pod.Status.Conditions {
		if present.Type != next.Type {
			continue
		}
		if present.Status == next.Status {
			next.LastTransitionTime = present.LastTransitionTime
		}
		next.LastProbeTime = present.LastProbeTime
		if present == next {
			return nil
		}
	}
	// A strategic merge keyed by type: it leaves the conditions of others alone. The uid
	// makes sure that it isn't a successor of the same name.
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{next}},
	})
	if err != nil {
		return fmt.Errorf("encode condition: %w", err)
	}
	_, err = s.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, body,
		metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
