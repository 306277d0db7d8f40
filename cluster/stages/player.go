package stages

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// Options of a Player. Config is required.
type Options struct {
	Stages []Stage
	// Config reaches the API server as somebody who may do what the Stages do.
	Config *rest.Config
	// Node knows the simulated nodes. Stages for nodes and pods are for these and for what is on them.
	Node func(name string) (Node, bool)
	// Clock is what delays pass on; the real one by default.
	Clock  clock.WithTicker
	Logger *slog.Logger
}

// workers play objects of one kind at the same time.
const workers = 8

// Player plays the lives of objects.
type Player struct {
	options Options
	byKind  map[schema.GroupVersionKind][]*stage
	kinds   *kinds
	writer  *writer
	world   *world
	chance  func(n int64) int64
}

// New returns a Player of valid Stages.
func New(o Options) (*Player, error) {
	if o.Config == nil {
		return nil, errors.New("stages: the way to the API server is missing")
	}
	if o.Node == nil {
		o.Node = func(string) (Node, bool) { return Node{}, false }
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Player{options: o, byKind: map[schema.GroupVersionKind][]*stage{}, chance: rand.Int64N}
	for i := range o.Stages {
		made, failures := compile(&o.Stages[i], o.Clock.Now)
		if len(failures) > 0 {
			return nil, apierrors.NewInvalid(groupKind, o.Stages[i].Name, failures)
		}
		if made != nil {
			p.byKind[made.kind] = append(p.byKind[made.kind], made)
		}
	}
	p.world = &world{now: o.Clock.Now, started: o.Clock.Now(), node: o.Node, addresses: newAddresses()}
	found, err := discovery.NewDiscoveryClientForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("stages: %w", err)
	}
	objects, err := dynamic.NewForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("stages: %w", err)
	}
	p.kinds = &kinds{discovery: found, objects: objects}
	p.writer = newWriter(o.Config, p.kinds)
	return p, nil
}

// Run plays until ctx ends; without Stages there is nothing to play. A kind that is not there yet is waited for.
func (p *Player) Run(ctx context.Context) error {
	if len(p.byKind) == 0 {
		return nil
	}
	events, err := typedcorev1.NewForConfig(p.options.Config)
	if err != nil {
		return fmt.Errorf("stages: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: events.Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "stages"})
	for kind, all := range p.byKind {
		group.Go(func() error {
			if _, err := p.kinds.find(kind); errors.Is(err, errNoKind) {
				p.options.Logger.Info("stages wait for their kind to be defined", "kind", kind.String())
			}
			found, err := p.kinds.await(ctx, kind)
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("stages of %s: %w", kind, err)
			}
			return newCast(p, kind, found, all, recorder).run(ctx)
		})
	}
	return group.Wait()
}
