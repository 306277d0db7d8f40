package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/knftables"
)

// labelServiceProxyName on a Service or slice says that another proxy serves it.
const labelServiceProxyName = "service.kubernetes.io/service-proxy-name"

// retryAfter is how long to wait before trying again what the kernel refused.
const retryAfter = time.Second

// Options say what a Proxy works with. All but ClusterCIDR are needed.
type Options struct {
	// Config reaches the API server.
	Config *rest.Config
	// NodeName is the Node object's, by which EndpointSlices tell which endpoints are here.
	NodeName string
	// ClusterCIDR is the pods' range: what comes from elsewhere to a cluster address is masqueraded. When it is
	// not valid, nothing is for that reason.
	ClusterCIDR netip.Prefix
	Logger      *slog.Logger
}

// Proxy keeps the nftables table of the network namespace that it runs in as Services and EndpointSlices say.
type Proxy struct {
	options  Options
	nft      knftables.Interface
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	factory  informers.SharedInformerFactory
	synced   []cache.InformerSynced
	// changed holds a token when something happened since the last pass began.
	changed chan struct{}

	// have is what the kernel holds, nil when that must be looked up; ports is the plan that it came from. Both
	// belong to the loop.
	have  *table
	ports []servicePort
}

// New makes a Proxy. It fails when the kernel or the nft program can't do what is needed.
func New(options Options) (*Proxy, error) {
	nft, err := knftables.New(knftables.IPv4Family, tableName)
	if err != nil {
		return nil, fmt.Errorf("nftables are not usable: %w", err)
	}
	client, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, fmt.Errorf("make a client for the API server: %w", err)
	}
	return newProxy(options, nft, client)
}

func newProxy(options Options, nft knftables.Interface, client kubernetes.Interface) (*Proxy, error) {
	selector := "!" + corev1.IsHeadlessService + ",!" + labelServiceProxyName
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(list *metav1.ListOptions) { list.LabelSelector = selector }),
		informers.WithTransform(withoutManagedFields))
	services := factory.Core().V1().Services()
	endpointSlices := factory.Discovery().V1().EndpointSlices()
	made := &Proxy{
		options: options, nft: nft, factory: factory,
		services: services.Lister(), slices: endpointSlices.Lister(),
		changed: make(chan struct{}, 1),
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { made.trigger() },
		UpdateFunc: func(any, any) { made.trigger() },
		DeleteFunc: func(any) { made.trigger() },
	}
	for _, informer := range []cache.SharedIndexInformer{services.Informer(), endpointSlices.Informer()} {
		registration, err := informer.AddEventHandler(handler)
		if err != nil {
			return nil, fmt.Errorf("watch Services: %w", err)
		}
		made.synced = append(made.synced, registration.HasSynced)
	}
	return made, nil
}

// withoutManagedFields keeps out of memory what nothing here reads.
func withoutManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// trigger asks for a pass. Many before the next pass begins are one.
func (p *Proxy) trigger() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// Run keeps the table up to date until ctx is done. The table stays as it is then: connections go on, and the next
// Proxy takes it over.
func (p *Proxy) Run(ctx context.Context) error {
	p.factory.Start(ctx.Done())
	defer p.factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), p.synced...) {
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
		began := time.Now()
		if err := p.sync(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			p.options.Logger.Error("rules were not programmed", "error", err, "retryIn", retryAfter)
			retry.Reset(retryAfter)
			continue
		}
		p.options.Logger.Debug("rules are programmed", "servicePorts", len(p.ports), "took", time.Since(began))
	}
}

// sync is one pass: read everything, decide, and apply the difference.
func (p *Proxy) sync(ctx context.Context) error {
	services, endpointSlices, err := p.list()
	if err != nil {
		return err
	}
	ports := plan(p.options.NodeName, services, endpointSlices)
	want := render(ports, p.options.ClusterCIDR)
	if err := p.apply(ctx, want); err != nil {
		// Who knows what the kernel holds now.
		p.have = nil
		return err
	}
	stale := staleFlows(p.ports, ports)
	p.have, p.ports = want, ports
	return stale.forget()
}

func (p *Proxy) list() ([]*corev1.Service, []*discoveryv1.EndpointSlice, error) {
	services, err := p.services.List(labels.Everything())
	if err != nil {
		return nil, nil, fmt.Errorf("list Services: %w", err)
	}
	endpointSlices, err := p.slices.List(labels.Everything())
	if err != nil {
		return nil, nil, fmt.Errorf("list EndpointSlices: %w", err)
	}
	return services, endpointSlices, nil
}

// apply makes the kernel's table what is wanted: one transaction that changes where packets go, and one more that
// removes the emptied chains.
func (p *Proxy) apply(ctx context.Context, want *table) error {
	tx := p.nft.NewTransaction()
	have := p.have
	if have == nil {
		seen, err := observe(ctx, p.nft)
		if err != nil {
			return err
		}
		foundation(tx)
		have = seen
	}
	leftover := change(tx, have, want)
	if tx.NumOperations() == 0 {
		return nil
	}
	if err := p.nft.Run(ctx, tx); err != nil {
		return fmt.Errorf("program rules: %w", err)
	}
	tx = p.nft.NewTransaction()
	leftover.remove(tx)
	if tx.NumOperations() == 0 {
		return nil
	}
	if err := p.nft.Run(ctx, tx); err != nil {
		return fmt.Errorf("remove emptied chains: %w", err)
	}
	return nil
}
