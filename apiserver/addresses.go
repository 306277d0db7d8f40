package apiserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

const (
	// repairInterval is how often everything that Services reserve is looked at, whether something happened or not.
	repairInterval = 3 * time.Minute
	// rangeInterval is how often the server looks whether its own ServiceCIDR is still there.
	rangeInterval = 10 * time.Second
	// repairRetry is when a watch that ended begins again.
	repairRetry = time.Second
	// repairBacklog bounds what changed and was not looked at yet.
	repairBacklog = 1000
)

// repairer keeps addresses and node ports in line with the Services that have them.
type repairer struct {
	server               *Server
	client               kubernetes.Interface
	since                int64 // the revision from which on changes are followed
	sink                 events.EventBroadcaster
	aboutIPs, aboutPorts events.EventRecorder
	changed              chan resource.Object
}

func (s *Server) newRepairer(client kubernetes.Interface) *repairer {
	sink := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	return &repairer{server: s, client: client, since: s.cache.Revision(), sink: sink, changed: make(chan resource.Object, repairBacklog),
		aboutIPs:   sink.NewRecorder(scheme.Scheme, "ipallocator-repair-controller"),
		aboutPorts: sink.NewRecorder(scheme.Scheme, "portallocator-repair-controller")}
}

var (
	serviceResource = corev1.SchemeGroupVersion.WithResource("services")
	addressResource = networkingv1.SchemeGroupVersion.WithResource("ipaddresses")
)

// all looks at every Service and every address.
func (r *repairer) all(ctx context.Context) error {
	s := r.server
	services, err := s.handlers.Registry(serviceResource).All(ctx, "")
	if err != nil {
		return fmt.Errorf("repair what Services reserve: %w", err)
	}
	found, err := s.services.RepairPorts(ctx, services)
	if err != nil {
		return fmt.Errorf("repair node ports: %w", err)
	}
	report(r.aboutPorts, found)
	addresses, err := s.handlers.Registry(addressResource).All(ctx, "")
	if err != nil {
		return fmt.Errorf("repair what Services reserve: %w", err)
	}
	var errs []error
	for _, obj := range append(services, addresses...) {
		_, err := r.look(ctx, obj)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// run repairs until ctx ends: what changed at once, everything from time to time.
func (r *repairer) run(ctx context.Context) {
	defer r.sink.Shutdown()
	if err := r.sink.StartRecordingToSinkWithContext(ctx); err != nil {
		r.server.log.Warn("events of what Services reserve", "error", err)
	}
	var follows sync.WaitGroup
	defer follows.Wait()
	for _, gvr := range []schema.GroupVersionResource{serviceResource, addressResource} {
		follows.Go(func() { r.follow(ctx, gvr) })
	}
	everything, standard := time.NewTicker(repairInterval), time.NewTicker(rangeInterval)
	defer everything.Stop()
	defer standard.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-standard.C:
			err = publishServiceRange(ctx, r.client, r.server.options.ServiceClusterIPRange)
		case <-everything.C:
			err = r.all(ctx)
		case obj := <-r.changed:
			var again time.Duration
			if again, err = r.look(ctx, obj); again > 0 {
				time.AfterFunc(again, func() { r.enqueue(ctx, obj) })
			}
		}
		if err != nil && ctx.Err() == nil {
			r.server.log.Warn("repair what Services reserve", "error", err)
		}
	}
}

func (r *repairer) enqueue(ctx context.Context, obj resource.Object) {
	select {
	case r.changed <- obj:
	case <-ctx.Done():
	}
}

// follow enqueues what changed since the repairer was made. A watch that had to begin anew looks at everything.
func (r *repairer) follow(ctx context.Context, gvr schema.GroupVersionResource) {
	reg := r.server.handlers.Registry(gvr)
	for since := strconv.FormatInt(r.since, 10); ctx.Err() == nil; since = "" {
		w, err := reg.Watch(ctx, "", &internalversion.ListOptions{ResourceVersion: since})
		if err == nil {
			r.read(ctx, reg, w.Initial...)
		}
		for err == nil {
			var changes []*cache.Event
			changes, err = w.Next(ctx)
			for _, e := range changes {
				r.read(ctx, reg, e.Entry)
			}
		}
		if w != nil {
			w.Stop()
		}
		select {
		case <-ctx.Done():
		case <-time.After(repairRetry):
		}
	}
}

// read enqueues the objects of entries. One that was deleted has none, and nothing to be repaired.
func (r *repairer) read(ctx context.Context, reg *registry.Registry, entries ...*cache.Entry) {
	for _, e := range entries {
		if e == nil {
			continue
		}
		obj, err := reg.Object(&registry.Result{Entry: e})
		if err != nil {
			r.server.log.Warn("read what changed", "error", err)
			continue
		}
		r.enqueue(ctx, obj)
	}
}

// look repairs one object as it is by now.
func (r *repairer) look(ctx context.Context, obj resource.Object) (again time.Duration, err error) {
	gvr := addressResource
	if _, ok := obj.(*corev1.Service); ok {
		gvr = serviceResource
	}
	reg := r.server.handlers.Registry(gvr)
	result, err := reg.Get(ctx, obj.GetNamespace(), obj.GetName(), "0")
	if err != nil {
		return 0, nil // gone
	}
	now, err := reg.Object(result)
	if err != nil {
		return 0, err
	}
	var found []registry.Finding
	switch now := now.(type) {
	case *corev1.Service:
		found, err = r.server.services.RepairService(ctx, now, time.Now())
	case *networkingv1.IPAddress:
		found, again, err = r.server.services.RepairAddress(ctx, now, time.Now())
	}
	report(r.aboutIPs, found)
	return again, err
}

// report tells of what was amiss.
func report(to events.EventRecorder, found []registry.Finding) {
	for _, f := range found {
		to.Eventf(f.About, nil, corev1.EventTypeWarning, f.Reason, f.Action, "%s", f.Message)
	}
}
