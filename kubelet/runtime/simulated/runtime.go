package simulated

import (
	"context"
	"net/netip"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// Name and Version that the runtime reports.
const (
	Name    = "simulated"
	Version = "1.0.0"
)

// Options of a Runtime. The zero value is valid.
type Options struct {
	// Clock gives the times of containers and ends those that end by themselves; the real one by default.
	Clock clock.WithDelayedExecution
	// Addresses of pods, until the kubelet tells the node's own range; 10.244.0.0/16 by default.
	Addresses netip.Prefix
	// Rules are for pods without annotations of their own.
	Rules []Rule
	// Behaviour says what a container does; by default what the annotations of its pod and the Rules say.
	Behaviour func(*runtimeapi.PodSandboxConfig, *runtimeapi.ContainerConfig) Behaviour
	// Pull returns an error for an image that can't be had; by default DefaultPull.
	Pull func(image string) error
}

// Runtime is a simulated runtime. All methods may be called from many goroutines.
type Runtime struct {
	// The calls that a kubelet never makes answer Unimplemented through this.
	unimplemented

	options Options

	mu         sync.Mutex
	addresses  *allocator
	sandboxes  map[string]*sandbox
	containers map[string]*container
	pods       map[string]*pod
	images     map[string]bool
	watchers   map[*eventStream]struct{}
	changed    func(types.UID) // nil until somebody asks
	serial     uint64
}

// pod indexes what belongs to one pod uid, in order of creation.
type pod struct {
	sandboxes  []*sandbox
	containers []*container
}

var (
	_ runtimeapi.RuntimeServiceClient = (*Runtime)(nil)
	_ runtime.Notifier                = (*Runtime)(nil)
	_ runtime.Readiness               = (*Runtime)(nil)
)

// New returns an empty Runtime.
func New(options Options) (*Runtime, error) {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if !options.Addresses.IsValid() {
		options.Addresses = netip.MustParsePrefix("10.244.0.0/16")
	}
	if options.Behaviour == nil {
		options.Behaviour = options.annotated
	}
	if options.Pull == nil {
		options.Pull = DefaultPull
	}
	return &Runtime{
		options:    options,
		addresses:  newAllocator(options.Addresses),
		sandboxes:  map[string]*sandbox{},
		containers: map[string]*container{},
		pods:       map[string]*pod{},
		images:     map[string]bool{},
		watchers:   map[*eventStream]struct{}{},
	}, nil
}

// Version implements runtimeapi.RuntimeServiceClient.
func (r *Runtime) Version(context.Context, *runtimeapi.VersionRequest, ...grpc.CallOption) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: Name, RuntimeVersion: Version, RuntimeApiVersion: "v1"}, nil
}

// Status implements runtimeapi.RuntimeServiceClient: the runtime and its network are always ready.
func (r *Runtime) Status(context.Context, *runtimeapi.StatusRequest, ...grpc.CallOption) (*runtimeapi.StatusResponse, error) {
	return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true},
		{Type: runtimeapi.NetworkReady, Status: true},
	}}}, nil
}

// UpdateRuntimeConfig implements runtimeapi.RuntimeServiceClient: new pods get addresses of the node's range.
func (r *Runtime) UpdateRuntimeConfig(_ context.Context, in *runtimeapi.UpdateRuntimeConfigRequest, _ ...grpc.CallOption) (*runtimeapi.UpdateRuntimeConfigResponse, error) {
	if text := in.GetRuntimeConfig().GetNetworkConfig().GetPodCidr(); text != "" {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "pod range: %v", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.addresses.prefix != prefix.Masked() {
			r.addresses = newAllocator(prefix)
		}
	}
	return &runtimeapi.UpdateRuntimeConfigResponse{}, nil
}

func missing(kind, id string) error {
	return status.Errorf(codes.NotFound, "an error occurred when try to find %s %q: not found", kind, id)
}

// Sandboxes counts the sandboxes that exist, running or not.
func (r *Runtime) Sandboxes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sandboxes)
}
