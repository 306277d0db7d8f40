package kubelet

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/kubelet/cgroup"
	"github.com/kogge-dev/kogge/kubelet/runtime"
	"github.com/kogge-dev/kogge/kubelet/status"
)

// retryClear is when a control group is looked at again whose processes were dying.
const retryClear = 20 * time.Millisecond

// finish takes the next step of a pod that is to end: stop what runs, clear away what it used, delete it from the
// API if that was asked for, and once the API has it no more, drop what the runtime keeps.
func (k *Kubelet) finish(ctx context.Context, e *entry, pod *v1.Pod, observed *runtime.Pod, gone bool, phase v1.PodPhase) (time.Duration, error) {
	k.probes.Ending(e.uid)
	if observed.Alive() {
		k.killPod(e, pod, observed, nil)
		return 0, nil
	}
	if e.kill != nil && !e.kill.done.Load() {
		return 0, nil
	}
	e.kill = nil
	if !e.finished {
		err := k.clear(ctx, pod)
		if errors.Is(err, cgroup.ErrBusy) {
			return retryClear, nil
		}
		if err != nil {
			return 0, err
		}
		e.finished = true
	}
	if gone {
		return 0, k.drop(ctx, e, pod.Namespace, pod.Name, observed)
	}
	if pod.DeletionTimestamp != nil && status.IsTerminal(phase) {
		return 0, k.confirmDeletion(ctx, pod)
	}
	return 0, nil
}

// confirmDeletion tells the API that nothing of the pod runs any more, upon which the API forgets it, or waits for
// its finalizers.
func (k *Kubelet) confirmDeletion(ctx context.Context, pod *v1.Pod) error {
	now := int64(0)
	err := k.core.Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// drop removes the pod's sandboxes, with their containers, and its logs.
func (k *Kubelet) drop(ctx context.Context, e *entry, namespace, name string, observed *runtime.Pod) error {
	for i := range observed.Sandboxes {
		if err := k.runtime.RemoveSandbox(ctx, observed.Sandboxes[i].ID); err != nil {
			return fmt.Errorf("remove sandbox of pod %s/%s: %w", namespace, name, err)
		}
	}
	if err := k.removeFiles(namespace, name, e.uid); err != nil {
		return err
	}
	k.forget(e.uid)
	return nil
}

// syncOrphan ends a pod that the API doesn't know: it was deleted while the kubelet was away. What is needed for
// that stands in its containers' annotations.
func (k *Kubelet) syncOrphan(ctx context.Context, e *entry, observed *runtime.Pod) error {
	pod := orphan(e, observed)
	if observed.Alive() {
		k.killPod(e, pod, observed, nil)
		return nil
	}
	if e.kill != nil && !e.kill.done.Load() {
		return nil
	}
	err := k.clear(ctx, pod)
	if errors.Is(err, cgroup.ErrBusy) {
		k.pool.TriggerAfter(e.uid, retryClear)
		return nil
	}
	if err != nil {
		return err
	}
	return k.drop(ctx, e, pod.Namespace, pod.Name, observed)
}

func orphan(e *entry, observed *runtime.Pod) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: observed.Name, Namespace: observed.Namespace, UID: e.uid}}
	for i := range observed.Containers {
		saved := observed.Containers[i].Saved
		if saved.TerminationGrace != nil {
			pod.Spec.TerminationGracePeriodSeconds = saved.TerminationGrace
		}
		if saved.DeletionGrace != nil {
			pod.DeletionGracePeriodSeconds = saved.DeletionGrace
		}
	}
	return pod
}
