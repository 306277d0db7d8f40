package podroutes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// retryAfter is how long to wait before trying again what the kernel refused.
const retryAfter = time.Second

// Options say what a PodRoutes works with.
type Options struct {
	// Config reaches the API server.
	Config *rest.Config
	// NodeName is the node whose routes these are; empty where there are no pods: all nodes are others then.
	NodeName string
	// ConfigDir is where the CNI configuration of this node is written; empty: nowhere.
	ConfigDir string
	// Inside runs a function in the network namespace that the routes belong to; nil: in this one.
	Inside func(func() error) error
	Logger *slog.Logger
}

// PodRoutes keeps the routes to other nodes' pods.
type PodRoutes struct {
	options Options
	factory informers.SharedInformerFactory
	nodes   corelisters.NodeLister
	synced  cache.InformerSynced
	// changed holds a token when something happened since the last pass began.
	changed chan struct{}
}

// New makes a PodRoutes.
func New(options Options) (*PodRoutes, error) {
	client, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the API server: %w", err)
	}
	if options.Inside == nil {
		options.Inside = func(f func() error) error { return f() }
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(slim))
	made := &PodRoutes{
		options: options, factory: factory, nodes: factory.Core().V1().Nodes().Lister(), changed: make(chan struct{}, 1),
	}
	registration, err := factory.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { made.trigger() },
		UpdateFunc: func(any, any) { made.trigger() },
		DeleteFunc: func(any) { made.trigger() },
	})
	if err != nil {
		return nil, fmt.Errorf("watch nodes: %w", err)
	}
	made.synced = registration.HasSynced
	return made, nil
}

// slim keeps of a node only what is read here: a node's status is long, and changes often.
func slim(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		if accessor, err := meta.Accessor(object); err == nil {
			accessor.SetManagedFields(nil)
		}
		return object, nil
	}
	kept := &corev1.Node{ObjectMeta: node.ObjectMeta}
	kept.ManagedFields, kept.Annotations = nil, nil
	kept.Spec.PodCIDR, kept.Spec.PodCIDRs = node.Spec.PodCIDR, node.Spec.PodCIDRs
	kept.Status.Addresses = node.Status.Addresses
	return kept, nil
}

func (p *PodRoutes) trigger() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// Run keeps routes and configuration up to date until ctx is done, and leaves them as they are then.
func (p *PodRoutes) Run(ctx context.Context) error {
	p.factory.Start(ctx.Done())
	defer p.factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), p.synced) {
		return nil
	}
	p.trigger()
	retry := time.NewTimer(0)
	retry.Stop()
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.changed:
		case <-retry.C:
		}
		if err := p.sync(); err != nil {
			p.options.Logger.Error("pods' network is not up to date", "error", err, "retryIn", retryAfter)
			retry.Reset(retryAfter)
		}
	}
}

// sync is one pass: the configuration of this node, and the routes to all others.
func (p *PodRoutes) sync() error {
	nodes, err := p.nodes.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	return errors.Join(p.configure(nodes), p.options.Inside(func() error { return apply(plan(p.options.NodeName, nodes)) }))
}

func (p *PodRoutes) configure(nodes []*corev1.Node) error {
	if p.options.ConfigDir == "" {
		return nil
	}
	for _, node := range nodes {
		if pods, ok := podRange(node); ok && node.Name == p.options.NodeName {
			return writeConfig(p.options.ConfigDir, pods)
		}
	}
	return nil
}
