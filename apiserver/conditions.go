package apiserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applyflowcontrolv1 "k8s.io/client-go/applyconfigurations/flowcontrol/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// flowManager owns what the server says of FlowSchemas, as in a genuine server.
const flowManager = "api-priority-and-fairness-config-consumer-v1"

// conditionsRetry is when conditions that could not be written are tried again, should nothing happen before.
const conditionsRetry = time.Second

// conditions keeps the conditions that the server itself writes: whether a FlowSchema's level is there, and whether the
// server of an APIService can be reached. It looks at all of them whenever something that matters changes; they are few.
type conditions struct {
	server  *Server
	client  kubernetes.Interface
	changed chan struct{}
	remote  sync.Once      // Services are watched once somebody names one
	follows sync.WaitGroup // watches
}

// keepConditions runs until ctx ends.
func (s *Server) keepConditions(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "https://in-process", Transport: s.RoundTripper(loopback), QPS: -1, WarningHandler: rest.NoWarnings{}, UserAgent: "kube-apiserver"})
	if err != nil {
		return err
	}
	c := &conditions{server: s, client: client, changed: make(chan struct{}, 1)}
	defer c.follows.Wait()
	ctx = request.WithUser(ctx, &request.User{Name: loopback.Name, Groups: loopback.Groups})
	for _, gvr := range []schema.GroupVersionResource{
		flowcontrolv1.SchemeGroupVersion.WithResource("flowschemas"), flowcontrolv1.SchemeGroupVersion.WithResource("prioritylevelconfigurations"),
		apiregistrationv1.SchemeGroupVersion.WithResource("apiservices"),
	} {
		c.follows.Go(func() { c.follow(ctx, gvr) })
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.changed:
		}
		if err := errors.Join(c.flowControl(ctx), c.flowSchemas(ctx), c.apiServices(ctx)); err != nil && ctx.Err() == nil {
			s.log.Warn("conditions that the server writes", "error", err)
			time.AfterFunc(conditionsRetry, c.poke)
		}
	}
}

// poke says that something changed.
func (c *conditions) poke() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// follow pokes at every change of a resource.
func (c *conditions) follow(ctx context.Context, gvr schema.GroupVersionResource) {
	c.server.follow(ctx, gvr, "", &internalversion.ListOptions{}, c.poke)
}

// follow calls f at every change of what the options select, and in the beginning.
func (s *Server) follow(ctx context.Context, gvr schema.GroupVersionResource, namespace string, o *internalversion.ListOptions, f func()) {
	reg := s.handlers.Registry(gvr)
	for ctx.Err() == nil {
		w, err := reg.Watch(ctx, namespace, o)
		for err == nil {
			f()
			_, err = w.Next(ctx)
		}
		if w != nil {
			w.Stop()
		}
		select {
		case <-ctx.Done():
		case <-time.After(conditionsRetry):
		}
	}
}

// flowSchemas says of each schema whether its level is there.
func (c *conditions) flowSchemas(ctx context.Context) error {
	own := objects{c.server.handlers}
	levels, err := own.List(flowcontrolv1.GroupName, "prioritylevelconfigurations", "")
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(levels))
	for _, l := range levels {
		there[l.GetName()] = true
	}
	schemas, err := own.List(flowcontrolv1.GroupName, "flowschemas", "")
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range schemas {
		fs := o.(*flowcontrolv1.FlowSchema)
		want := dangling(fs.Spec.PriorityLevelConfiguration.Name, there[fs.Spec.PriorityLevelConfiguration.Name])
		if hasCondition(fs, want) {
			continue
		}
		apply := applyflowcontrolv1.FlowSchema(fs.Name).WithStatus(applyflowcontrolv1.FlowSchemaStatus().WithConditions(
			applyflowcontrolv1.FlowSchemaCondition().WithType(want.Type).WithStatus(want.Status).WithReason(want.Reason).WithMessage(want.Message).WithLastTransitionTime(metav1.Now())))
		_, err := c.client.FlowcontrolV1().FlowSchemas().ApplyStatus(ctx, apply, metav1.ApplyOptions{FieldManager: flowManager, Force: true})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// dangling is what is to be said of a schema whose level is there, or is not.
func dangling(level string, there bool) flowcontrolv1.FlowSchemaCondition {
	c := flowcontrolv1.FlowSchemaCondition{Type: flowcontrolv1.FlowSchemaConditionDangling, Status: flowcontrolv1.ConditionTrue, Reason: "NotFound",
		Message: fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q but there is no such object", level)}
	if there {
		c.Status, c.Reason = flowcontrolv1.ConditionFalse, "Found"
		c.Message = fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", level)
	}
	return c
}

func hasCondition(fs *flowcontrolv1.FlowSchema, want flowcontrolv1.FlowSchemaCondition) bool {
	for _, c := range fs.Status.Conditions {
		if c.Type == want.Type {
			return c.Status == want.Status && c.Reason == want.Reason && c.Message == want.Message
		}
	}
	return false
}

// apiServices says of each APIService of another server whether that can be reached.
func (c *conditions) apiServices(ctx context.Context) error {
	own := objects{c.server.handlers}
	list, err := own.List(apiregistrationv1.GroupName, "apiservices", "")
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range list {
		s := o.(*apiregistrationv1.APIService)
		if s.Spec.Service == nil {
			continue
		}
		c.remote.Do(func() {
			c.follows.Go(func() { c.follow(ctx, corev1.SchemeGroupVersion.WithResource("services")) })
			c.follows.Go(func() { c.follow(ctx, discoveryv1.SchemeGroupVersion.WithResource("endpointslices")) })
		})
		want, err := c.availability(own, s.Spec.Service)
		if err == nil && setAvailability(s, want) {
			err = c.write(ctx, s)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// availability looks for the Service and its endpoints.
func (c *conditions) availability(own objects, ref *apiregistrationv1.ServiceReference) (apiregistrationv1.APIServiceCondition, error) {
	var service *corev1.Service
	obj, err := own.Get("", "services", ref.Namespace, ref.Name)
	switch {
	case err == nil:
		service = obj.(*corev1.Service)
	case !apierrors.IsNotFound(err):
		return apiregistrationv1.APIServiceCondition{}, err
	}
	list, err := own.List(discoveryv1.GroupName, "endpointslices", ref.Namespace)
	if err != nil {
		return apiregistrationv1.APIServiceCondition{}, err
	}
	return reachable(ref, service, list), nil
}

// reachable is the condition of an APIService whose Service is the one given, or nil.
func reachable(ref *apiregistrationv1.ServiceReference, service *corev1.Service, slices []resource.Object) apiregistrationv1.APIServiceCondition {
	not := func(reason, format string, args ...any) apiregistrationv1.APIServiceCondition {
		return apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	if service == nil {
		return not("ServiceNotFound", "service/%s in %q is not present", ref.Name, ref.Namespace)
	}
	var port *corev1.ServicePort
	for i := range service.Spec.Ports {
		if ref.Port != nil && service.Spec.Ports[i].Port == *ref.Port {
			port = &service.Spec.Ports[i]
		}
	}
	if port == nil {
		return not("ServicePortError", "service/%s in %q is not listening on port %d", ref.Name, ref.Namespace, *ref.Port)
	}
	found, ready := false, false
	for _, o := range slices {
		slice := o.(*discoveryv1.EndpointSlice)
		if slice.Labels[discoveryv1.LabelServiceName] != ref.Name {
			continue
		}
		found = true
		for _, p := range slice.Ports {
			ready = ready || p.Name != nil && *p.Name == port.Name && len(slice.Endpoints) > 0
		}
	}
	switch {
	case !found:
		return not("EndpointsNotFound", "cannot find endpointslices for service/%s in %q", ref.Name, ref.Namespace)
	case !ready:
		return not("MissingEndpoints", "endpointslices for service/%s in %q have no addresses with port name %q", ref.Name, ref.Namespace, port.Name)
	}
	return not("FailedDiscoveryCheck", "requests for API servers other than this one are not passed on")
}

// setAvailability puts a condition in place and tells whether it is another than before.
func setAvailability(s *apiregistrationv1.APIService, want apiregistrationv1.APIServiceCondition) bool {
	want.LastTransitionTime = metav1.Now()
	for i := range s.Status.Conditions {
		c := &s.Status.Conditions[i]
		if c.Type != want.Type {
			continue
		}
		if c.Status == want.Status && c.Reason == want.Reason && c.Message == want.Message {
			return false
		}
		if c.Status == want.Status {
			want.LastTransitionTime = c.LastTransitionTime
		}
		*c = want
		return true
	}
	s.Status.Conditions = append(s.Status.Conditions, want)
	return true
}

// write stores an APIService's status. Who was faster is seen by an event.
func (c *conditions) write(ctx context.Context, s *apiregistrationv1.APIService) error {
	reg := c.server.handlers.Registry(apiregistrationv1.SchemeGroupVersion.WithResource("apiservices"))
	o := registry.WriteOptions{Manager: "kube-apiserver", Subresource: "status"}
	_, err := reg.Update(ctx, "", s.Name, func(ctx context.Context, current resource.Object, exists bool) (resource.Object, error) {
		if current.GetUID() != s.UID {
			return nil, apierrors.NewConflict(reg.Resource.GR(), s.Name, errors.New("another APIService"))
		}
		return reg.Replace(ctx, "", current, exists, s.DeepCopy(), o)
	}, registry.UpdateOptions{WriteOptions: o})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
