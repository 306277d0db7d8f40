package kubelet

import (
	"context"
	"net"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/hook"
	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/probe"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// dialer connects to pods; nil for pods that have no network.
func (k *Kubelet) dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	if k.options.RootDir == "" {
		return nil
	}
	return (&net.Dialer{}).DialContext
}

func (k *Kubelet) newProber() *probe.Prober {
	return probe.New(probe.Options{
		Runtime: k.options.Runtime, Dial: k.dialer(), HostIP: k.options.NodeIP.String(), Clock: k.clock,
		Record: k.recordNamed, Changed: k.pool.Trigger,
	})
}

func (k *Kubelet) runHook(ctx context.Context, pod *v1.Pod, container *v1.Container, id string, handler *v1.LifecycleHandler) error {
	runner := hook.Runner{Runtime: k.options.Runtime, Dial: k.dialer(), Clock: k.clock}
	call := hook.Call{Pod: pod, Container: container, ContainerID: id}
	if pod.Spec.HostNetwork {
		call.PodIP = k.options.NodeIP.String()
	} else if handler.HTTPGet != nil {
		observed, err := k.runtime.Pod(ctx, pod.UID)
		if err != nil {
			return err
		}
		if ips := observed.IPs(); len(ips) > 0 {
			call.PodIP = ips[0]
		}
	}
	return runner.Run(ctx, call, handler)
}

// postStart runs the hook; a container whose hook fails is stopped. Until the hook is done no other container of the
// pod is started, which is what users rely on to order them.
func (a attempt) postStart(ctx context.Context, id string) outcome {
	err := a.k.runHook(ctx, a.pod, a.container, id, a.container.Lifecycle.PostStart)
	if err == nil {
		return outcome{started: true}
	}
	if ctx.Err() != nil {
		return outcome{started: true} // the pod is being ended anyway
	}
	// The error may quote what the container said; the event doesn't, since others read events.
	a.tell(v1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed")
	a.tell(v1.EventTypeNormal, "Killing", "FailedPostStartHook")
	grace := containerGrace(a.pod, a.container, "")
	if stopErr := a.k.end(a.k.background, a.pod, a.container, id, grace, nil); stopErr != nil {
		a.k.logger.Error("stop container after its postStart hook failed", "pod", a.pod.Name, "err", stopErr)
	}
	return a.failed(reasonPostStart, runtime.Message(err), retryStart)
}

// preStop runs the hook for no longer than the grace period. Its failure doesn't keep the container alive.
func (k *Kubelet) preStop(ctx context.Context, pod *v1.Pod, container *v1.Container, id string, grace int64) {
	if container.Lifecycle == nil || container.Lifecycle.PreStop == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(grace)*time.Second)
	defer cancel()
	if err := k.runHook(limited, pod, container, id, container.Lifecycle.PreStop); err != nil && ctx.Err() == nil {
		_, kind := podspec.Container(pod, container.Name)
		if limited.Err() == nil {
			k.recordContainer(pod, container.Name, kind, v1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed")
		}
		k.logger.Warn("preStop hook", "pod", pod.Name, "container", container.Name, "err", err)
	}
}
