package crd

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/apiserver/discovery"
	"github.com/kogge-dev/kogge/apiserver/handlers"
	"github.com/kogge-dev/kogge/apiserver/internal/callout"
	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/openapi"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// retryAfter is when what failed is tried again, should nothing else happen before.
const retryAfter = time.Second

// manager owns what the controller writes, as in a genuine server.
const manager = "kube-apiserver"

// Options of a controller.
type Options struct {
	// Definitions is the registry of CustomResourceDefinitions.
	Definitions *registry.Registry
	Store       *store.Store
	Cache       *cache.Cache
	Handlers    *handlers.Handlers
	Discovery   *discovery.Discovery
	Admission   registry.Admission
	// Callout is how conversion webhooks are reached.
	Callout   callout.Options
	OpenAPI   *openapi.Documents
	OpenAPIV2 *openapi.V2
	Logger    *slog.Logger
	Now       func() time.Time
}

// Controller keeps the status of definitions, and what is served of them.
type Controller struct {
	Options
	synced chan struct{}
	first  sync.Once

	// What follows belongs to the goroutine of Run.
	known     map[string]*customResourceDefinition // as they were last seen
	failed    map[string]bool
	served    map[string]*serving
	finishing map[types.UID]bool // their objects are being deleted

	ends sync.WaitGroup // deletions under way
}

// New makes a controller.
func New(o Options) *Controller {
	return &Controller{Options: o, synced: make(chan struct{}), known: map[string]*customResourceDefinition{}, failed: map[string]bool{}, served: map[string]*serving{}, finishing: map[types.UID]bool{}}
}

// Synced is closed once all definitions that were there at the start are served.
func (c *Controller) Synced() <-chan struct{} { return c.synced }

// Run serves definitions until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	defer c.ends.Wait()
	ctx = request.WithUser(ctx, &request.User{Name: "system:apiserver", Groups: []string{"system:masters"}})
	for ctx.Err() == nil {
		if err := c.follow(ctx); err != nil && ctx.Err() == nil {
			c.Logger.Warn("definitions of custom resources: watching anew", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
	return nil
}

// follow watches the definitions until the watch ends.
func (c *Controller) follow(ctx context.Context) error {
	w, err := c.Definitions.Watch(ctx, "", &internalversion.ListOptions{})
	if err != nil {
		return err
	}
	defer w.Stop()
	names := map[string]bool{}
	for name := range c.known {
		names[name] = true
	}
	for _, e := range w.Initial {
		names[e.Name] = true
	}
	c.syncAll(ctx, names)
	c.first.Do(func() { close(c.synced) })
	for {
		wait, cancel := ctx, context.CancelFunc(func() {})
		if len(c.failed) > 0 {
			wait, cancel = context.WithTimeout(ctx, retryAfter)
		}
		events, err := w.Next(wait)
		cancel()
		names := c.failed
		c.failed = map[string]bool{}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && wait.Err() == nil:
			return err
		}
		for _, e := range events {
			if e.Entry != nil {
				names[e.Entry.Name] = true
			} else {
				names[e.Previous.Name] = true
			}
		}
		c.syncAll(ctx, names)
	}
}

func (c *Controller) syncAll(ctx context.Context, names map[string]bool) {
	for name := range names {
		if err := c.sync(ctx, name); err != nil && ctx.Err() == nil {
			c.Logger.Warn("definition of custom resources", "name", name, "error", err)
			c.failed[name] = true
		}
	}
}

// sync brings one definition's status, and what is served of it, to what they should be.
func (c *Controller) sync(ctx context.Context, name string) error {
	crd, err := c.get(ctx, name)
	if err != nil {
		return err
	}
	if crd == nil {
		c.release(name)
		return nil
	}
	next := plan(crd, c.others(crd), metav1.NewTime(c.Now()))
	c.known[name] = next
	if !toServe(next) {
		c.withdraw(name)
	} else if err := c.serve(ctx, next); err != nil {
		return err
	}
	if !reflect.DeepEqual(crd.Status, next.Status) {
		if err := c.write(ctx, next); err != nil {
			return err
		}
		if !reflect.DeepEqual(crd.Status.AcceptedNames, next.Status.AcceptedNames) {
			c.wakeGroup(next)
		}
		return nil
	}
	c.end(ctx, next)
	return nil
}

// get reads a definition as the cache has it; nil if there is none.
func (c *Controller) get(ctx context.Context, name string) (*customResourceDefinition, error) {
	res, err := c.Definitions.Get(ctx, "", name, "0")
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	obj, err := c.Definitions.Object(res)
	if err != nil {
		return nil, err
	}
	return obj.(*customResourceDefinition), nil
}

// others are the group's other definitions.
func (c *Controller) others(crd *customResourceDefinition) []*customResourceDefinition {
	var out []*customResourceDefinition
	for name, d := range c.known {
		if name != crd.Name && d.Spec.Group == crd.Spec.Group {
			out = append(out, d)
		}
	}
	return out
}

// release forgets a definition that is gone. Its names are free for others.
func (c *Controller) release(name string) {
	c.withdraw(name)
	if gone := c.known[name]; gone != nil {
		delete(c.known, name)
		delete(c.finishing, gone.UID)
		c.wakeGroup(gone)
	}
}

// wakeGroup looks again at the group's definitions whose names were refused.
func (c *Controller) wakeGroup(crd *customResourceDefinition) {
	for _, o := range c.others(crd) {
		if !reflect.DeepEqual(o.Spec.Names, o.Status.AcceptedNames) {
			c.failed[o.Name] = true
		}
	}
}

// write stores a status. Who was faster is seen by an event.
func (c *Controller) write(ctx context.Context, crd *customResourceDefinition) error {
	o := registry.WriteOptions{Manager: manager, Subresource: "status"}
	_, err := c.Definitions.Update(ctx, "", crd.Name, c.replaceBy(crd, o), registry.UpdateOptions{WriteOptions: o})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// replaceBy makes a definition out of the current one; another definition of the same name is a conflict.
func (c *Controller) replaceBy(crd *customResourceDefinition, o registry.WriteOptions) registry.Transform {
	return func(ctx context.Context, current resource.Object, exists bool) (resource.Object, error) {
		if current.GetUID() != crd.UID {
			return nil, apierrors.NewConflict(c.Definitions.Resource.GR(), crd.Name, errors.New("another definition"))
		}
		return c.Definitions.Replace(ctx, "", current, exists, crd.DeepCopy(), o)
	}
}
