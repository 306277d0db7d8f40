package scheduler

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// makeRoom asks whether ending pods would help one that fits nowhere, and notes the answer
// in what is said about it.
func (s *finder) makeRoom(c *cycle, failed *framework.Failed) {
	uid := c.entry.Pod.UID
	c.preemption = c.profile.PostFilter(&framework.Attempt{
		State: c.state, Pod: c.pod, Nodes: &s.snapshot, Failed: failed,
		Nominated: s.nominated.NodeOf(uid), Busy: s.preempting.ask(uid),
		Filter: func(state *framework.CycleState, node *framework.NodeInfo) *framework.Status {
			return c.profile.FilterBeside(state, c.pod, node, s.nominated.On(node.Node.Name))
		},
		Adjust: func(state *framework.CycleState, other *framework.PodInfo, node *framework.NodeInfo, sign int) {
			c.profile.Adjust(state, c.pod, other, node, sign)
		},
	})
	if c.preemption == nil {
		c.keepsNomination = true
	}
}

// preempt ends the victims, beside the placing of other pods. Until that is done the pod
// itself may be tried, but not be given other victims.
func (s *Scheduler) preempt(ctx context.Context, c *cycle) {
	pod, decided := c.entry.Pod, c.preemption
	var victims []*corev1.Pod
	for _, victim := range decided.Victims {
		if victim.DeletionTimestamp == nil {
			victims = append(victims, victim)
		}
	}
	if len(victims) == 0 {
		return
	}
	s.preempting.begin(pod.UID)
	s.binding.Go(func() {
		last := len(victims) - 1
		err := s.endAll(ctx, pod, decided.Node, victims[:last])
		// Before the last one goes, since its end is what the pod is tried again upon.
		asked := s.preempting.end(pod.UID)
		if err == nil {
			err = s.endAll(ctx, pod, decided.Node, victims[last:])
		}
		if err != nil && ctx.Err() == nil {
			s.logger.Error("could not preempt; will retry", "pod", pod.Namespace+"/"+pod.Name, "node", decided.Node, "error", err)
		}
		// Was it gone already, the event of its end may have been passed over.
		if err != nil || asked && s.isGone(victims[last]) {
			s.queue.Activate(pod)
		}
	})
}

func (s *Scheduler) endAll(ctx context.Context, pod *corev1.Pod, node string, victims []*corev1.Pod) error {
	for _, other := range s.nominated.On(node) {
		if framework.Priority(other.Pod) >= framework.Priority(pod) {
			continue
		}
		s.nominated.Remove(other.Pod.UID)
		if err := s.patchStatus(ctx, other.Pod, map[string]any{"nominatedNodeName": nil}); err != nil {
			return fmt.Errorf("take back the nomination of %s/%s: %w", other.Pod.Namespace, other.Pod.Name, err)
		}
	}
	for _, victim := range victims {
		if err := s.end(ctx, pod, node, victim); err != nil {
			return fmt.Errorf("end pod %s/%s: %w", victim.Namespace, victim.Name, err)
		}
	}
	return nil
}

// end says in a victim's status why it goes, and deletes it. One that is gone already is
// none any more.
func (s *Scheduler) end(ctx context.Context, pod *corev1.Pod, node string, victim *corev1.Pod) error {
	condition := corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler,
		Message:            fmt.Sprintf("%s: preempting to accommodate a higher priority pod", pod.Spec.SchedulerName),
		ObservedGeneration: victim.Generation, LastTransitionTime: metav1.NewTime(s.clock.Now()),
	}
	if err := s.patchStatus(ctx, victim, map[string]any{"conditions": []corev1.PodCondition{condition}}); err != nil {
		return fmt.Errorf("report the disruption: %w", err)
	}
	err := s.client.CoreV1().Pods(victim.Namespace).Delete(ctx, victim.Name, *metav1.NewPreconditionDeleteOptions(string(victim.UID)))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return err
	}
	s.recorders[pod.Spec.SchedulerName].Eventf(victim, pod, corev1.EventTypeNormal, "Preempted", "Preempting", "Preempted by pod %v on node %v", pod.UID, node)
	return nil
}

// patchStatus changes parts of a pod's status by a strategic merge, which leaves the
// conditions of others alone. The uid makes sure that it isn't a successor of the same
// name. A pod that is gone is no error.
func (s *Scheduler) patchStatus(ctx context.Context, pod *corev1.Pod, status map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("encode a status: %w", err)
	}
	_, err = s.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, body,
		metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
