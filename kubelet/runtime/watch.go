package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	"k8s.io/utils/clock"
)

// How long to wait before the runtime is asked again after it could not be reached.
const (
	firstReconnect = 200 * time.Millisecond
	lastReconnect  = 5 * time.Second
)

// Notifier is a runtime in the kubelet's own process, which loses no event.
type Notifier interface {
	// Notify has changed called with each pod whose sandboxes or containers change, until stop is called. It must not
	// block, nor call the runtime.
	Notify(changed func(types.UID)) (stop func())
}

// Readiness is a runtime that knows by itself whether what runs in a container is ready. It is asked before readiness
// and startup probes, which fail as long as it is not.
type Readiness interface {
	Ready(containerID string) bool
}

// Watcher tells which pods changed in the runtime. The runtime's events say it at once; since events are lost while
// nobody listens, everything is listed and compared on each connection, and once every Relist.
type Watcher struct {
	Runtime *Runtime
	Clock   clock.WithTicker
	// Relist is the time between comparisons while events flow; 0 for a runtime that loses none.
	Relist time.Duration
	// Changed is called with each pod whose sandboxes or containers may have changed. It must not block.
	Changed func(types.UID)
	// Connected is called with nil once the runtime has been listed, and with the reason when it can't be reached.
	Connected func(error)

	seen map[types.UID]string
}

// Run watches until ctx ends. It never gives up on a runtime that is away.
func (w *Watcher) Run(ctx context.Context) error {
	wait := firstReconnect
	for ctx.Err() == nil {
		err := w.follow(ctx, func() { wait = firstReconnect })
		if ctx.Err() != nil {
			return nil
		}
		w.Connected(err)
		select {
		case <-ctx.Done():
			return nil
		case <-w.Clock.After(wait):
		}
		wait = min(2*wait, lastReconnect)
	}
	return nil
}

// follow connects, compares and then passes on events until the stream breaks.
func (w *Watcher) follow(ctx context.Context, connected func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := w.Runtime.CRI.GetContainerEvents(ctx, &runtimeapi.GetEventsRequest{})
	if err != nil {
		return fmt.Errorf("follow the container runtime's events: %w", err)
	}
	if err := w.compare(ctx); err != nil {
		return err
	}
	connected()
	w.Connected(nil)
	if w.Relist == 0 {
		return w.receive(stream)
	}
	broken := make(chan error, 1)
	go func() { broken <- w.receive(stream) }()
	ticker := w.Clock.NewTicker(w.Relist)
	defer ticker.Stop()
	for {
		select {
		case err := <-broken:
			return err
		case <-ticker.C():
			if err := w.compare(ctx); err != nil {
				cancel()
				<-broken
				return err
			}
		}
	}
}

func (w *Watcher) receive(stream interface {
	Recv() (*runtimeapi.ContainerEventResponse, error)
}) error {
	for {
		event, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("follow the container runtime's events: %w", err)
		}
		if uid := eventPod(event); uid != "" {
			w.Changed(uid)
		}
	}
}

// eventPod finds the pod that an event is about. The last event of a pod may come without a sandbox.
func eventPod(event *runtimeapi.ContainerEventResponse) types.UID {
	if uid := event.GetPodSandboxStatus().GetMetadata().GetUid(); uid != "" {
		return types.UID(uid)
	}
	for _, container := range event.ContainersStatuses {
		if uid := kubelettypes.GetPodUID(container.Labels); uid != "" {
			return types.UID(uid)
		}
	}
	return ""
}

// compare lists everything and reports the pods that differ from the last time.
func (w *Watcher) compare(ctx context.Context) error {
	states, err := w.Runtime.states(ctx)
	if err != nil {
		return err
	}
	for uid, state := range states {
		if w.seen[uid] != state {
			w.Changed(uid)
		}
	}
	for uid := range w.seen {
		if _, still := states[uid]; !still {
			w.Changed(uid)
		}
	}
	w.seen = states
	return nil
}

// UIDs lists the pods that have a sandbox or a container in the runtime.
func (r *Runtime) UIDs(ctx context.Context) ([]types.UID, error) {
	states, err := r.states(ctx)
	if err != nil {
		return nil, err
	}
	uids := make([]types.UID, 0, len(states))
	for uid := range states {
		uids = append(uids, uid)
	}
	return uids, nil
}

// states sums each pod up in a text that differs when anything about it does.
func (r *Runtime) states(ctx context.Context) (map[types.UID]string, error) {
	sandboxes, err := r.CRI.ListPodSandbox(ctx, &runtimeapi.ListPodSandboxRequest{})
	if err != nil {
		return nil, fmt.Errorf("list sandboxes: %w", err)
	}
	containers, err := r.CRI.ListContainers(ctx, &runtimeapi.ListContainersRequest{})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	parts := map[types.UID][]string{}
	for _, s := range sandboxes.Items {
		if uid := types.UID(kubelettypes.GetPodUID(s.Labels)); uid != "" {
			parts[uid] = append(parts[uid], s.Id+s.State.String())
		}
	}
	for _, c := range containers.Containers {
		if uid := types.UID(kubelettypes.GetPodUID(c.Labels)); uid != "" {
			parts[uid] = append(parts[uid], c.Id+c.State.String())
		}
	}
	states := make(map[types.UID]string, len(parts))
	for uid, list := range parts {
		slices.Sort(list)
		states[uid] = strings.Join(list, " ")
	}
	return states, nil
}
