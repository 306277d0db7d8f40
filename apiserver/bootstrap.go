package apiserver

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	applynetworkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resources/scheduling"
)

// systemNamespaces are there from the beginning.
var systemNamespaces = []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease, metav1.NamespaceDefault}

// loopback is who the server is to itself.
var loopback = Identity{Name: "system:apiserver", Groups: []string{"system:masters"}}

// bootstrap makes the first objects, through the same door as everyone: the namespaces, the system's
// priority classes, and the Service by which pods find this server.
func (s *Server) bootstrap(ctx context.Context, c kubernetes.Interface, repairs *repairer) error {
	// None of these needs another, and each waits for the disk.
	first, firstCtx := errgroup.WithContext(ctx)
	for _, name := range systemNamespaces {
		first.Go(func() error { return publishNamespace(firstCtx, c, name) })
	}
	for name, class := range scheduling.System {
		first.Go(func() error { return publishPriority(firstCtx, c, name, class) })
	}
	first.Go(func() error { return publishServiceRange(firstCtx, c, s.options.ServiceClusterIPRange) })
	if s.rbac != nil {
		first.Go(func() error { return s.publishPolicy(firstCtx, c) })
	}
	if err := first.Wait(); err != nil {
		return err
	}
	second, secondCtx := errgroup.WithContext(ctx)
	second.Go(func() error { return repairs.all(secondCtx) })
	second.Go(func() error { return s.publish(secondCtx, c) })
	return second.Wait()
}

// ownClient speaks to the server as itself.
func (s *Server) ownClient() (kubernetes.Interface, error) {
	return kubernetes.NewForConfig(&rest.Config{Host: "https://in-process", Transport: s.RoundTripper(loopback), QPS: -1, WarningHandler: rest.NoWarnings{}, UserAgent: "kube-apiserver"})
}

func publishNamespace(ctx context.Context, c kubernetes.Interface, name string) error {
	client := c.CoreV1().Namespaces()
	if _, err := client.Get(ctx, name, metav1.GetOptions{ResourceVersion: "0"}); err == nil {
		return nil
	}
	_, err := client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return unlessThere(err)
}

func publishPriority(ctx context.Context, c kubernetes.Interface, name string, class schedulingv1.PriorityClass) error {
	client := c.SchedulingV1().PriorityClasses()
	if _, err := client.Get(ctx, name, metav1.GetOptions{ResourceVersion: "0"}); err == nil {
		return nil
	}
	_, err := client.Create(ctx, &class, metav1.CreateOptions{})
	return unlessThere(err)
}

// unlessThere is a creation's error, unless it says that another server was faster.
func unlessThere(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// rangeManager owns what the server says of its own ServiceCIDR, as in a genuine server.
const rangeManager = "kubernetes-service-cidr-controller"

// publishServiceRange keeps the ServiceCIDR of the range that the server was given.
func publishServiceRange(ctx context.Context, c kubernetes.Interface, services netip.Prefix) error {
	const name = "kubernetes"
	client, cidrs := c.NetworkingV1().ServiceCIDRs(), []string{services.String()}
	have, err := client.Get(ctx, name, metav1.GetOptions{ResourceVersion: "0"})
	if apierrors.IsNotFound(err) {
		have, err = client.Create(ctx, &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: cidrs}}, metav1.CreateOptions{})
	}
	if err != nil {
		return unlessThere(err)
	}
	// What others said of it stays, and so does one with another range, or one that is about to go.
	if meta.FindStatusCondition(have.Status.Conditions, networkingv1.ServiceCIDRConditionReady) != nil || have.DeletionTimestamp != nil || !slices.Equal(have.Spec.CIDRs, cidrs) {
		return nil
	}
	ready := applymetav1.Condition().WithType(networkingv1.ServiceCIDRConditionReady).WithStatus(metav1.ConditionTrue).
		WithMessage("Kubernetes default Service CIDR is ready").WithLastTransitionTime(metav1.Now())
	_, err = client.ApplyStatus(ctx, applynetworkingv1.ServiceCIDR(name).WithStatus(applynetworkingv1.ServiceCIDRStatus().WithConditions(ready)),
		metav1.ApplyOptions{FieldManager: rangeManager, Force: true})
	return err
}

// publish keeps the Service "kubernetes", and its endpoints when the server has an address that pods reach.
func (s *Server) publish(ctx context.Context, c kubernetes.Interface) error {
	svc := kubernetesService(s.options.ServiceClusterIPRange)
	if _, err := c.CoreV1().Services(svc.Namespace).Get(ctx, svc.Name, metav1.GetOptions{ResourceVersion: "0"}); apierrors.IsNotFound(err) {
		if _, err := c.CoreV1().Services(svc.Namespace).Create(ctx, svc, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	if !s.options.AdvertiseAddress.IsValid() {
		return nil
	}
	if err := publishEndpoints(ctx, c, s.options.AdvertiseAddress, int32(s.options.AdvertisePort)); err != nil {
		return err
	}
	return publishSlice(ctx, c, s.options.AdvertiseAddress, int32(s.options.AdvertisePort))
}

// keepPublished makes the Service "kubernetes" and its endpoints anew whenever somebody removed or changed them.
func (s *Server) keepPublished(ctx context.Context, c kubernetes.Interface) {
	ctx = request.WithUser(ctx, &request.User{Name: loopback.Name, Groups: loopback.Groups})
	var all sync.WaitGroup
	var one sync.Mutex // publishes at a time
	for _, gvr := range []schema.GroupVersionResource{
		corev1.SchemeGroupVersion.WithResource("services"), corev1.SchemeGroupVersion.WithResource("endpoints"), discoveryv1.SchemeGroupVersion.WithResource("endpointslices"),
	} {
		o := &internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "kubernetes")}
		all.Go(func() {
			s.follow(ctx, gvr, metav1.NamespaceDefault, o, func() {
				one.Lock()
				defer one.Unlock()
				if err := s.publish(ctx, c); err != nil && ctx.Err() == nil {
					s.log.Warn("the Service kubernetes", "error", err)
				}
			})
		})
	}
	all.Wait()
}

// kubernetesService has the first address of the range.
func kubernetesService(services netip.Prefix) *corev1.Service {
	ip := services.Masked().Addr().Next().String()
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Namespace: metav1.NamespaceDefault,
			Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"}},
		Spec: corev1.ServiceSpec{
			ClusterIP: ip, ClusterIPs: []string{ip}, Type: corev1.ServiceTypeClusterIP, SessionAffinity: corev1.ServiceAffinityNone,
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol}, IPFamilyPolicy: ptr.To(corev1.IPFamilyPolicySingleStack),
			Ports: []corev1.ServicePort{{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(6443)}},
		},
	}
}

func publishEndpoints(ctx context.Context, c kubernetes.Interface, ip netip.Addr, port int32) error {
	want := []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: ip.String()}}, Ports: []corev1.EndpointPort{{Name: "https", Port: port, Protocol: corev1.ProtocolTCP}}}}
	client := c.CoreV1().Endpoints(metav1.NamespaceDefault)
	have, err := client.Get(ctx, "kubernetes", metav1.GetOptions{ResourceVersion: "0"})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, &corev1.Endpoints{Subsets: want,
			ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Labels: map[string]string{discoveryv1.LabelSkipMirror: "true"}}}, metav1.CreateOptions{})
		return err
	}
	if err != nil || equality.Semantic.DeepEqual(have.Subsets, want) {
		return err
	}
	have.Subsets = want
	_, err = client.Update(ctx, have, metav1.UpdateOptions{})
	return err
}

func publishSlice(ctx context.Context, c kubernetes.Interface, ip netip.Addr, port int32) error {
	endpoints := []discoveryv1.Endpoint{{Addresses: []string{ip.String()}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}}
	ports := []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To(port), Protocol: ptr.To(corev1.ProtocolTCP)}}
	client := c.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault)
	have, err := client.Get(ctx, "kubernetes", metav1.GetOptions{ResourceVersion: "0"})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(ctx, &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4, Endpoints: endpoints, Ports: ports,
			ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}}}, metav1.CreateOptions{})
		return err
	}
	if err != nil || (equality.Semantic.DeepEqual(have.Endpoints, endpoints) && equality.Semantic.DeepEqual(have.Ports, ports)) {
		return err
	}
	have.Endpoints, have.Ports = endpoints, ports
	_, err = client.Update(ctx, have, metav1.UpdateOptions{})
	return err
}
