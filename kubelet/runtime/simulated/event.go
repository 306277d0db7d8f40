package simulated

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// eventStream queues events for one listener. Many events of one pod may wait; they are small.
type eventStream struct {
	ctx context.Context

	mu    sync.Mutex
	queue []*runtimeapi.ContainerEventResponse
	wake  chan struct{} // holds one token while the queue is not empty
}

// Notify implements runtime.Notifier. There is one listener at a time: the kubelet.
func (r *Runtime) Notify(changed func(types.UID)) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = changed
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.changed = nil
	}
}

// GetContainerEvents implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) GetContainerEvents(ctx context.Context, _ *runtimeapi.GetEventsRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[runtimeapi.ContainerEventResponse], error) {
	stream := &eventStream{ctx: ctx, wake: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[stream] = struct{}{}
	context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, stream)
	})
	return stream, nil
}

// send tells all listeners; the caller holds the lock.
func (r *Runtime) send(s *sandbox, id string, kind runtimeapi.ContainerEventType) {
	if r.changed != nil {
		r.changed(types.UID(s.uid()))
	}
	if len(r.watchers) == 0 {
		return
	}
	event := &runtimeapi.ContainerEventResponse{
		ContainerId: id, ContainerEventType: kind, CreatedAt: r.options.Clock.Now().UnixNano(),
		PodSandboxStatus: &runtimeapi.PodSandboxStatus{Id: s.id, Metadata: s.config.Metadata, State: s.state()},
	}
	for stream := range r.watchers {
		stream.push(event)
	}
}

func (s *eventStream) push(event *runtimeapi.ContainerEventResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, event)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Recv implements grpc.ServerStreamingClient.
func (s *eventStream) Recv() (*runtimeapi.ContainerEventResponse, error) {
	for {
		s.mu.Lock()
		if len(s.queue) > 0 {
			event := s.queue[0]
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return event, nil
		}
		s.queue = nil
		s.mu.Unlock()
		select {
		case <-s.wake:
		case <-s.ctx.Done():
			return nil, status.FromContextError(s.ctx.Err()).Err()
		}
	}
}

// The rest of grpc.ServerStreamingClient, which has no meaning without a wire.

// Header implements grpc.ClientStream.
func (s *eventStream) Header() (metadata.MD, error) { return nil, nil }

// Trailer implements grpc.ClientStream.
func (s *eventStream) Trailer() metadata.MD { return nil }

// CloseSend implements grpc.ClientStream.
func (s *eventStream) CloseSend() error { return nil }

// Context implements grpc.ClientStream.
func (s *eventStream) Context() context.Context { return s.ctx }

// SendMsg implements grpc.ClientStream.
func (s *eventStream) SendMsg(any) error { return nil }

// RecvMsg implements grpc.ClientStream.
func (s *eventStream) RecvMsg(any) error { return nil }
