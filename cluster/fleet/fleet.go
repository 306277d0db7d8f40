package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/cluster/pki"
	"github.com/kogge-dev/kogge/internal/handover"
	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/rounds"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

// Options of a Fleet. Config and CA are required.
type Options struct {
	// Config reaches the API server as the named user.
	Config func(user string, groups ...string) *rest.Config
	// CA signs the kubelets' certificates and knows the API server's.
	CA       *pki.CA
	Template NodeTemplate
	// Rules say how pods behave that have no annotations about it.
	Rules []simulated.Rule
	// WithoutPods: the kubelets leave pods alone, whose lives others play.
	WithoutPods bool
	// Clock is that of kubelets and of what containers do; the real one by default.
	Clock  clock.WithTickerAndDelayedExecution
	Logger *slog.Logger
}

const (
	// workers are enough for what a few processors can send; heartbeats have as many of their own.
	workers = 8
	// statusInterval is how often a node's status is looked at: nothing changes by itself on a simulated node.
	statusInterval = time.Minute
	// port is reported as that of each kubelet.
	port = 10250
	// deletions is how many nodes are deleted at once.
	deletions = 16
)

// Fleet is a number of simulated nodes.
type Fleet struct {
	options    Options
	clients    kubernetes.Interface
	pods       *kubelet.Informer
	events     record.EventBroadcaster
	rounds     *rounds.Rounds
	heartbeats *rounds.Rounds
	server     *server
	running    sync.WaitGroup

	scaling sync.Mutex // one Scale at a time
	mu      sync.Mutex
	ctx     context.Context // of the nodes; nil until Run
	nodes   []*node
	byIP    map[netip.Addr]*node
}

// node is a node of the fleet.
type node struct {
	spec    spec
	kubelet *kubelet.Kubelet
	cancel  context.CancelFunc
	ended   chan struct{}
}

// New returns a Fleet without nodes.
func New(o Options) (*Fleet, error) {
	if o.Config == nil || o.CA == nil {
		return nil, errors.New("fleet: the way to the API server or the authority is missing")
	}
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	// Who watches for all nodes is none of them.
	config := rest.CopyConfig(o.Config("simulated-nodes", "system:masters"))
	config.UserAgent = kubelet.UserAgent // since it acts for them all
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Fleet{options: o, clients: clients, rounds: rounds.New(o.Clock), heartbeats: rounds.New(o.Clock), byIP: map[netip.Addr]*node{}}
	sharer, err := handover.New(config)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	if f.pods, err = kubelet.NewInformer(clients.CoreV1(), "", sharer); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f.server = newServer(f)
	return f, nil
}

// Run runs the nodes until ctx ends; those added before begin with it.
func (f *Fleet) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	f.events = record.NewBroadcaster(record.WithContext(ctx))
	defer f.events.Shutdown()
	f.events.StartRecordingToSink(newSink(f.clients.CoreV1().Events(""), f.options.Clock))
	if !f.options.WithoutPods {
		group.Go(func() error { return f.pods.Run(ctx) })
	}
	group.Go(func() error { return f.rounds.Run(ctx, workers) })
	group.Go(func() error { return f.heartbeats.Run(ctx, workers) })
	group.Go(func() error { return f.server.run(ctx) })
	if err := f.begin(ctx); err != nil {
		return errors.Join(err, group.Wait())
	}
	<-ctx.Done()
	f.running.Wait()
	return group.Wait()
}

// begin starts the nodes that were added before.
func (f *Fleet) begin(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx = ctx
	for _, n := range f.nodes {
		if err := f.start(n); err != nil {
			return err
		}
	}
	return nil
}

// Size is how many nodes there are to be.
func (f *Fleet) Size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.nodes)
}

// Scale makes it n nodes. New ones register by and by; of those that are too many the last are deleted, with their
// Node objects, when it returns.
func (f *Fleet) Scale(ctx context.Context, n int) error {
	if err := checkNumber(n); err != nil {
		return err
	}
	f.scaling.Lock()
	defer f.scaling.Unlock()
	if err := f.grow(n); err != nil {
		return err
	}
	return f.remove(ctx, f.shrink(n))
}

func (f *Fleet) grow(n int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.nodes) < n {
		added := &node{spec: f.options.Template.node(len(f.nodes)), ended: make(chan struct{})}
		if f.ctx != nil {
			if err := f.start(added); err != nil {
				return err
			}
		}
		f.nodes = append(f.nodes, added)
		f.byIP[added.spec.address] = added
	}
	return nil
}

// shrink takes the last nodes out and returns them.
func (f *Fleet) shrink(n int) []*node {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.nodes) <= n {
		return nil
	}
	surplus := append([]*node(nil), f.nodes[n:]...)
	clear(f.nodes[n:])
	f.nodes = f.nodes[:n]
	for _, removed := range surplus {
		delete(f.byIP, removed.spec.address)
	}
	return surplus
}

// remove ends the nodes' kubelets, lest they register again, and deletes their objects.
func (f *Fleet) remove(ctx context.Context, surplus []*node) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletions)
	for _, removed := range surplus {
		group.Go(func() error {
			if removed.cancel != nil {
				removed.cancel()
				<-removed.ended
			}
			return f.forget(ctx, removed.spec.name)
		})
	}
	return group.Wait()
}

func (f *Fleet) forget(ctx context.Context, name string) error {
	err := f.clients.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete node %s: %w", name, err)
	}
	return nil
}

// Prune deletes the Node objects of nodes that a fleet of this template had before and this one has not: after a
// restart.
func (f *Fleet) Prune(ctx context.Context) error {
	f.scaling.Lock()
	defer f.scaling.Unlock()
	nodes, err := f.clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		name := nodes.Items[i].Name
		if index, ours := f.options.Template.index(name); ours && index >= f.Size() {
			if err := f.forget(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// at is the node with this address, or nil.
func (f *Fleet) at(address netip.Addr) *node {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byIP[address]
}
