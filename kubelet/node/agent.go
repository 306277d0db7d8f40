package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"sync/atomic"
	"time"

	coordinationv1api "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/rounds"
)

// How soon a failed step is tried again, and how long the node's pod range is looked for at a quick pace.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 7 * time.Second
	eagerLooks = 20
)

// Options of an Agent.
type Options struct {
	Nodes  corev1.NodeInterface
	Leases coordinationv1.LeaseInterface
	Events record.EventRecorder

	Name       string
	Hostname   string
	Address    netip.Addr
	Port       int32
	MaxPods    int
	Labels     map[string]string
	Taints     []v1.Taint
	ProviderID string
	Version    string
	Machine    Machine

	Runtime runtimeapi.RuntimeServiceClient
	Images  runtimeapi.ImageServiceClient
	// Away returns why the runtime can't be reached; "" when it can.
	Away func() string

	StatusInterval time.Duration
	StatusReport   time.Duration
	LeaseInterval  time.Duration
	// Watched: the node may be changed by others in ways that matter here, so it is read at every look.
	Watched bool

	// PodRange is registered as the node's; invalid: the control plane chooses one.
	PodRange netip.Prefix

	// Rounds looks at the node, Heartbeats renews its lease: apart, so that thousands of nodes which register don't keep
	// those waiting that must say that they live.
	Rounds, Heartbeats *rounds.Rounds
	Clock              clock.WithTicker
	Logger             *slog.Logger
}

// Agent keeps one node.
type Agent struct {
	options Options
	looking atomic.Pointer[rounds.Task]
	renewal atomic.Pointer[rounds.Task]
	node    atomic.Pointer[v1.Node]

	// returned: the lease was renewed so late that others may have marked the node as lost.
	returned atomic.Bool

	// renew's alone
	lease   *coordinationv1api.Lease
	renewed time.Time

	// The rest is step's alone.
	reported     time.Time
	podRange     string
	looks        int
	doubts       int // looks that are to read the node, whoever marked it
	failures     int
	runtimeState *runtimeapi.StatusResponse
	version      string
	started      bool
}

// New returns an Agent.
func New(options Options) *Agent {
	return &Agent{options: options}
}

// Node returns the node as last seen, or nil before it is registered. It must not be modified.
func (a *Agent) Node() *v1.Node { return a.node.Load() }

// Refresh reads the node as it is now.
func (a *Agent) Refresh(ctx context.Context) error {
	node, err := a.options.Nodes.Get(ctx, a.options.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read node %s: %w", a.options.Name, err)
	}
	a.see(node)
	return nil
}

// Touch makes the agent look at the status now.
func (a *Agent) Touch() {
	if task := a.looking.Load(); task != nil {
		task.Touch()
	}
}

// Start keeps the node until ctx ends or stop is called, which returns when nothing is under way any more.
func (a *Agent) Start(ctx context.Context) (stop func()) {
	renew := a.options.Heartbeats.Add(ctx, a.renew)
	a.renewal.Store(renew)
	look := a.options.Rounds.Add(ctx, a.step)
	a.looking.Store(look)
	return func() {
		look.Remove()
		renew.Remove()
	}
}

// step registers the node or brings its status up to date, and returns when to look again.
func (a *Agent) step(ctx context.Context) time.Duration {
	if a.returned.Swap(false) {
		a.doubts = eagerLooks
	}
	err := a.look(ctx)
	if err == nil || ctx.Err() != nil {
		a.failures = 0
		if a.podRange == "" && a.looks < eagerLooks {
			a.looks++
			return min(firstRetry<<min(a.looks/4, 5), a.options.StatusInterval)
		}
		if a.doubts > 0 {
			a.doubts--
			return min(firstRetry<<((eagerLooks-1-a.doubts)/4), a.options.StatusInterval)
		}
		if len(a.problems()) > 0 {
			return min(time.Second, a.options.StatusInterval)
		}
		return a.options.StatusInterval
	}
	a.options.Logger.Error("update the node", "err", err)
	delay := min(firstRetry<<min(a.failures, 10), lastRetry)
	a.failures++
	return delay
}

func (a *Agent) look(ctx context.Context) error {
	a.askRuntime(ctx)
	node := a.node.Load()
	if node == nil {
		return a.register(ctx)
	}
	if a.options.Watched || a.podRange == "" || a.doubts > 0 {
		current, err := a.options.Nodes.Get(ctx, a.options.Name, metav1.GetOptions{ResourceVersion: "0"})
		if apierrors.IsNotFound(err) {
			a.node.Store(nil)
			return a.register(ctx)
		}
		if err != nil {
			return fmt.Errorf("read node %s: %w", a.options.Name, err)
		}
		node = current
		a.see(node)
	}
	if err := a.tellRange(ctx, node); err != nil {
		return err
	}
	return a.report(ctx, node)
}

// askRuntime learns the runtime's state; when it can't be reached, the last that is known stays.
func (a *Agent) askRuntime(ctx context.Context) {
	if a.options.Away() != "" {
		return
	}
	if a.version == "" {
		if version, err := a.options.Runtime.Version(ctx, &runtimeapi.VersionRequest{}); err == nil {
			a.version = version.RuntimeName + "://" + version.RuntimeVersion
		}
	}
	if state, err := a.options.Runtime.Status(ctx, &runtimeapi.StatusRequest{}); err == nil {
		a.runtimeState = state
	}
}

func (a *Agent) problems() []error {
	if away := a.options.Away(); away != "" {
		return []error{errors.New(away)}
	}
	if a.runtimeState == nil {
		return []error{errors.New("container runtime status check may not have completed yet")}
	}
	return Problems(a.runtimeState.Status)
}

func (a *Agent) facts(ctx context.Context) Facts {
	facts := Facts{
		Machine: a.options.Machine, Hostname: a.options.Hostname, Address: a.options.Address, Port: a.options.Port,
		MaxPods: a.options.MaxPods, KubeletVersion: a.options.Version, RuntimeVersion: a.version,
		Problems: a.problems(), Handlers: a.runtimeState.GetRuntimeHandlers(), Features: a.runtimeState.GetFeatures(),
		Now: a.options.Clock.Now(),
	}
	if a.options.Away() == "" {
		if list, err := a.options.Images.ListImages(ctx, &runtimeapi.ListImagesRequest{}); err == nil {
			facts.Images = list.Images
		}
	}
	return facts
}

// tellRange tells the runtime the node's pod range once the control plane has chosen it.
func (a *Agent) tellRange(ctx context.Context, node *v1.Node) error {
	if node.Spec.PodCIDR == "" || node.Spec.PodCIDR == a.podRange || a.options.Away() != "" {
		return nil
	}
	_, err := a.options.Runtime.UpdateRuntimeConfig(ctx, &runtimeapi.UpdateRuntimeConfigRequest{
		RuntimeConfig: &runtimeapi.RuntimeConfig{NetworkConfig: &runtimeapi.NetworkConfig{PodCidr: node.Spec.PodCIDR}},
	})
	if err != nil {
		return fmt.Errorf("tell the container runtime the pod range: %w", err)
	}
	a.podRange = node.Spec.PodCIDR
	a.askRuntime(ctx)
	return nil
}

// report writes the status if it changed or is due.
func (a *Agent) report(ctx context.Context, node *v1.Node) error {
	status := Status(&node.Status, a.facts(ctx))
	due := a.options.Clock.Since(a.reported) >= a.options.StatusReport
	if !due && !Changed(&node.Status, &status) {
		return nil
	}
	written, err := a.patch(ctx, node, status)
	if apierrors.IsNotFound(err) {
		a.node.Store(nil)
		return a.register(ctx)
	}
	if err != nil {
		return fmt.Errorf("write status of node %s: %w", a.options.Name, err)
	}
	a.reported = a.options.Clock.Now()
	a.tell(&node.Status, &status)
	a.see(written)
	return nil
}

func (a *Agent) patch(ctx context.Context, node *v1.Node, status v1.NodeStatus) (*v1.Node, error) {
	before, err := json.Marshal(v1.Node{Status: node.Status})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(v1.Node{Status: status})
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, v1.Node{})
	if err != nil {
		return nil, err
	}
	// Addresses merge by type upstream, and several may share one: the list is replaced as a whole.
	if !reflect.DeepEqual(node.Status.Addresses, status.Addresses) {
		if patch, err = replaceAddresses(patch, status.Addresses); err != nil {
			return nil, err
		}
	}
	return a.options.Nodes.Patch(ctx, a.options.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
}

func replaceAddresses(patch []byte, addresses []v1.NodeAddress) ([]byte, error) {
	var whole map[string]any
	if err := json.Unmarshal(patch, &whole); err != nil {
		return nil, err
	}
	status, ok := whole["status"].(map[string]any)
	if !ok {
		return patch, nil
	}
	list := make([]any, 0, len(addresses)+1)
	for _, address := range addresses {
		list = append(list, map[string]any{"type": address.Type, "address": address.Address})
	}
	status["addresses"] = append(list, map[string]any{"$patch": "replace"})
	delete(status, "$setElementOrder/addresses")
	return json.Marshal(whole)
}

// see keeps the node, without what nobody here reads.
func (a *Agent) see(node *v1.Node) {
	node.ManagedFields = nil
	a.node.Store(node)
}

func equal(a, b *v1.NodeStatus) bool { return apiequality.Semantic.DeepEqual(a, b) }
