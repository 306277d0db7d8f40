package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/runtime"
	"github.com/kogge-dev/kogge/kubelet/status"
)

// A failed sync is tried again after firstRetry, and each time twice as late, up to lastRetry.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// sync brings one pod a step closer to what it should be. The pool calls it, never twice at once for one pod.
func (k *Kubelet) sync(ctx context.Context, uid types.UID) time.Duration {
	e := k.find(uid)
	if e == nil {
		return 0
	}
	next, err := k.syncPod(ctx, e)
	if err == nil || ctx.Err() != nil {
		e.failures = 0
		return next
	}
	if runtime.IsUnavailable(err) {
		k.runtimeConnected(err)
	} else {
		k.logger.Error("sync pod", "uid", uid, "err", err)
	}
	delay := firstRetry << min(e.failures, 10)
	e.failures++
	return min(delay, lastRetry)
}

func (k *Kubelet) syncPod(ctx context.Context, e *entry) (next time.Duration, err error) {
	observed, err := k.runtime.Pod(ctx, e.uid)
	if err != nil {
		return 0, err
	}
	if err := k.learnRuntimeName(ctx); err != nil {
		return 0, err
	}
	e.dropDraft()
	pod, current, gone := e.view()
	if pod == nil {
		return 0, k.syncOrphan(ctx, e, observed)
	}
	e.settle(observed)
	k.probes.Update(k.background, pod, observed)
	if k.node.Node() == nil {
		return firstRetry, nil // what the node can take is not known yet
	}
	k.judge(ctx, e, pod, current, observed)
	ending := gone || pod.DeletionTimestamp != nil || e.verdict != nil || status.IsTerminal(current.Phase)
	idle := !observed.Alive() && (e.kill == nil || e.kill.done.Load())
	s := k.generate(e, pod, current, observed, ending, ending && idle)
	if isDraft(k.quick, ending, current, &s, len(e.reasons)) {
		k.keepBack(e, pod, current, &s)
	} else if !gone {
		if err := k.publish(ctx, e, pod, current, &s); err != nil {
			return 0, err
		}
	}
	if ending || (status.IsTerminal(s.Phase) && idle) {
		return k.finish(ctx, e, pod, observed, gone, s.Phase)
	}
	e.reasonsChanged = false
	next, err = k.advance(ctx, e, pod, observed)
	if e.reasonsChanged && ctx.Err() == nil {
		// Why a container didn't start is told at once, not when it is tried again.
		e.dropDraft()
		_, current, _ = e.view()
		s = k.generate(e, pod, current, observed, false, false)
		err = errors.Join(err, k.publish(ctx, e, pod, current, &s))
	}
	return next, err
}

// settle drops what is remembered of stops that have ended.
func (e *entry) settle(observed *runtime.Pod) {
	for id, s := range e.stops {
		if s.done.Load() {
			delete(e.stops, id)
		}
	}
	for id := range e.replacing {
		if still := e.stops[id]; still == nil && !isNewest(observed, id) {
			delete(e.replacing, id)
		}
	}
}

func isNewest(observed *runtime.Pod, id string) bool {
	for i := range observed.Containers {
		if c := &observed.Containers[i]; c.ID == id {
			return observed.Newest(c.Name) == c
		}
	}
	return false
}

// judge ends a pod that has run out of time, or that the node can't take.
func (k *Kubelet) judge(ctx context.Context, e *entry, pod *v1.Pod, current *v1.PodStatus, observed *runtime.Pod) {
	if e.verdict != nil || status.IsTerminal(current.Phase) || pod.DeletionTimestamp != nil {
		return
	}
	if deadline, set := deadlineOf(pod, current); set && !k.clock.Now().Before(deadline) {
		message := "Pod was active on the node longer than the specified deadline"
		e.verdict = &status.Verdict{Reason: "DeadlineExceeded", Message: message}
		k.recordPod(pod, v1.EventTypeNormal, "DeadlineExceeded", message)
		return
	}
	k.admit(ctx, e, pod, current, observed)
}

// deadlineOf is when the pod must have ended.
func deadlineOf(pod *v1.Pod, current *v1.PodStatus) (time.Time, bool) {
	if pod.Spec.ActiveDeadlineSeconds == nil || current.StartTime == nil {
		return time.Time{}, false
	}
	return current.StartTime.Add(time.Duration(*pod.Spec.ActiveDeadlineSeconds) * time.Second), true
}

func (k *Kubelet) generate(e *entry, pod *v1.Pod, current *v1.PodStatus, observed *runtime.Pod, terminal, finished bool) v1.PodStatus {
	return status.Generate(status.Input{
		Pod: pod, Old: current, Observed: observed, RuntimeName: *k.runtimeName.Load(), Reasons: e.reasons,
		Probes: k.probes.Results, Terminal: terminal, Finished: finished, Verdict: e.verdict,
		HostIPs: []netip.Addr{k.options.NodeIP}, Now: k.clock.Now(),
	})
}

// publish writes the status if it differs from the API's. A pod that is gone, or another of its name, is none of
// the kubelet's business: the source will say so.
func (k *Kubelet) publish(ctx context.Context, e *entry, pod *v1.Pod, current, s *v1.PodStatus) error {
	e.setSent(s)
	defer e.setSent(nil)
	written, err := status.Write(ctx, k.core.Pods(pod.Namespace), pod, current, s)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		return nil
	case err != nil:
		return err
	case written != nil:
		written.ManagedFields = nil
		e.setWritten(written)
	}
	return nil
}

func (k *Kubelet) learnRuntimeName(ctx context.Context) error {
	if k.runtimeName.Load() != nil {
		return nil
	}
	name, _, err := k.runtime.Name(ctx)
	if err != nil {
		return err
	}
	k.runtimeName.Store(&name)
	return nil
}

// advance takes the next step of a pod that is to run.
func (k *Kubelet) advance(ctx context.Context, e *entry, pod *v1.Pod, observed *runtime.Pod) (time.Duration, error) {
	if e.kill != nil {
		if !e.kill.done.Load() {
			return 0, nil
		}
		e.kill = nil
	}
	stops := make(map[string]bool, len(e.stops))
	for id := range e.stops {
		stops[id] = true
	}
	p := plan.Compute(plan.Input{Pod: pod, Observed: observed, Probes: k.probes.Results, Stopping: stops, Replacing: e.replacing})
	if p.KillPod {
		if p.CreateSandbox && p.SandboxID != "" {
			k.recordPod(pod, v1.EventTypeNormal, "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.")
		}
		k.killPod(e, pod, observed, nil)
		return 0, nil
	}
	for _, stop := range p.Stop {
		k.stopContainer(e, pod, stop)
	}
	mounted, err := k.machine.prepare(ctx, k.background, pod, k.downward(pod, observed))
	if ctx.Err() != nil {
		return 0, nil
	}
	if failures := failuresIn(err); err != nil && len(failures) == 0 {
		return 0, err
	}
	if err != nil {
		return k.mountFailed(e, pod, err), nil
	}
	e.mountFailures = 0
	next := k.nextLook(pod, e)
	if !p.CreateSandbox && len(p.Start) == 0 {
		return next, nil
	}
	if p.CreateSandbox {
		if err := k.createSandbox(ctx, pod, p.Attempt); err != nil {
			return 0, err
		}
		k.pool.Trigger(e.uid)
		return 0, nil
	}
	retry, err := k.startContainers(ctx, e, pod, observed, p, mounted)
	if retry > 0 && (next == 0 || retry < next) {
		next = retry
	}
	return next, err
}

// nextLook is when the pod must be looked at though nothing happened.
func (k *Kubelet) nextLook(pod *v1.Pod, e *entry) time.Duration {
	var next time.Duration
	if k.options.RootDir != "" {
		next = resyncInterval
	}
	if k.machine != nil {
		if renewal := k.machine.tokens.Renewal(e.uid); !renewal.IsZero() {
			next = min(next, max(renewal.Sub(k.clock.Now()), time.Second))
		}
	}
	_, current, _ := e.view()
	if deadline, set := deadlineOf(pod, current); set {
		if left := deadline.Sub(k.clock.Now()); next == 0 || left < next {
			next = max(left, time.Millisecond)
		}
	}
	return next
}

func (k *Kubelet) createSandbox(ctx context.Context, pod *v1.Pod, attempt uint32) error {
	config, err := k.sandboxConfig(pod, attempt)
	if err != nil {
		return err
	}
	k.tellMissingDNS(pod)
	if _, err := k.runtime.RunSandbox(ctx, config, ""); err != nil {
		if ctx.Err() == nil {
			k.recordPod(pod, v1.EventTypeWarning, "FailedCreatePodSandBox", fmt.Sprintf("Failed to create pod sandbox: %v", err))
		}
		return fmt.Errorf("create sandbox of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
