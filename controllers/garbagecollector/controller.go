package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/internal/handover"
)

const name = "garbage-collector-controller"

const (
	// workers is how many objects are looked at at the same time, as upstream.
	workers = 20
	// discoveryPeriod is how often the server is asked what it serves, besides the times
	// when a CustomResourceDefinition or APIService changes.
	discoveryPeriod = 30 * time.Second
	minRetryDelay   = 5 * time.Millisecond
	maxRetryDelay   = time.Minute
)

// Component is the garbage collector.
var Component = component.Component{
	Name:    name,
	Watches: []string{"*: metadata of everything that can be deleted"},
	Writes: []string{
		"*:delete without owners", "*:ownerReferences to owners that are gone",
		"*:finalizers foregroundDeletion and orphan",
	},
	Add: add,
}

func add(env component.Environment) error {
	config, httpClient := env.Manager.GetConfig(), env.Manager.GetHTTPClient()
	client, err := metadata.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	found, err := discovery.NewDiscoveryClientForConfigAndClient(config, httpClient)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	sharer, err := handover.New(config)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	c := &collector{
		client: client, sharer: sharer, discovery: discovery.ToServerResourcesInterfaceWithContext(found), events: env.Events(name),
		logger: env.Logger.With("controller", name), clock: env.Clock, graph: NewGraph(),
		rediscover: make(chan struct{}, 1),
	}
	if err := env.Manager.Add(c); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type collector struct {
	client    metadata.Interface
	sharer    *handover.Sharer
	discovery discovery.ServerResourcesInterfaceWithContext
	events    record.EventRecorder
	logger    *slog.Logger
	clock     clock.WithTicker
	graph     *Graph
	work      workqueue.TypedRateLimitingInterface[types.UID]
	// served is what the server served when it was last asked.
	served     atomic.Pointer[resources]
	rediscover chan struct{}
}

// Start runs the collector until ctx ends.
func (c *collector) Start(ctx context.Context) error {
	c.work = workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.UID](minRetryDelay, maxRetryDelay))
	watches := &monitors{
		client: c.client, sharer: c.sharer, logger: c.logger, observe: c.observe, forget: c.forget,
		running: map[schema.GroupVersionResource]*monitor{},
	}
	if err := c.sync(ctx, watches); err != nil {
		c.logger.Warn("will ask again", "error", err)
	}
	watches.waitForFirstLists(ctx)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { c.run(ctx) })
	}
	ticker := c.clock.NewTicker(discoveryPeriod)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C():
		case <-c.rediscover:
		}
		if err := c.sync(ctx, watches); err != nil && ctx.Err() == nil {
			c.logger.Warn("will ask again", "error", err)
		}
	}
	c.work.ShutDown()
	group.Wait()
	return nil
}

func (c *collector) sync(ctx context.Context, watches *monitors) error {
	found, err := discover(ctx, c.discovery)
	if err != nil {
		return err
	}
	c.served.Store(&found)
	return watches.sync(ctx, found.watchable)
}

func (c *collector) mapping(reference metav1.OwnerReference) (mapping, bool) {
	served := c.served.Load()
	gv, err := schema.ParseGroupVersion(reference.APIVersion)
	if served == nil || err != nil {
		return mapping{}, false
	}
	mapped, ok := served.byKind[gv.WithKind(reference.Kind)]
	return mapped, ok
}

func (c *collector) queue(uids []types.UID) {
	for _, uid := range uids {
		c.work.Add(uid)
	}
}

func (c *collector) observe(item *Item) {
	isNew := c.graph.Item(item.UID) == nil
	c.queue(c.graph.Observe(item))
	if isNew {
		c.reportMisplaced(item)
	}
	c.noticeDefinition(item)
}

func (c *collector) forget(item *Item) {
	c.queue(c.graph.Forget(item.UID))
	c.noticeDefinition(item)
}

// noticeDefinition has the server asked at once when what it serves may have changed.
func (c *collector) noticeDefinition(item *Item) {
	switch item.Resource.GroupResource() {
	case schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"},
		schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}:
		select {
		case c.rediscover <- struct{}{}:
		default: // it is to be asked already
		}
	}
}

func (c *collector) reportMisplaced(item *Item) {
	for _, reference := range c.graph.Misplaced(item) {
		about := &corev1.ObjectReference{
			APIVersion: item.Kind.GroupVersion().String(), Kind: item.Kind.Kind,
			Namespace: item.Namespace, Name: item.Name, UID: item.UID,
		}
		c.events.Eventf(about, corev1.EventTypeWarning, "OwnerRefInvalidNamespace",
			"ownerRef %s does not exist in namespace %q",
			describe(reference.APIVersion, reference.Kind, item.Namespace, reference.Name, reference.UID), item.Namespace)
	}
}

// run looks at one object after the other until the queue is closed.
func (c *collector) run(ctx context.Context) {
	for {
		uid, closed := c.work.Get()
		if closed {
			return
		}
		switch err := c.collect(ctx, uid); {
		case err == nil:
			c.work.Forget(uid)
		case ctx.Err() != nil:
		default:
			c.work.AddRateLimited(uid)
			if !apierrors.IsConflict(err) && !errors.Is(err, errLookAgain) {
				c.logger.Warn("will look again", "uid", uid, "error", err)
			}
		}
		c.work.Done(uid)
	}
}
