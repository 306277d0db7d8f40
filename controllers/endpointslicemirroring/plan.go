package endpointslicemirroring

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"
	"k8s.io/utils/ptr"
)

const (
	// managedBy marks the slices that are this controller's.
	managedBy = "endpointslicemirroring-controller.k8s.io"
	// maxEndpoints is how many addresses of one subset are mirrored, upstream's default.
	maxEndpoints = 1000
	// leaderAnnotation is on Endpoints that elect a leader and lead nowhere.
	leaderAnnotation = "control-plane.alpha.kubernetes.io/leader"
)

// Plan is what to do about the slices of one Endpoints object.
type Plan struct {
	Create, Update, Delete []*discoveryv1.EndpointSlice
	// Invalid is how many addresses are none; Skipped, how many were left out in all.
	Invalid, Skipped int
}

// Mirrored says that slices are to be made: the Service selects nothing itself, and the
// Endpoints don't forbid it.
func Mirrored(endpoints *corev1.Endpoints, service *corev1.Service) bool {
	if endpoints == nil || service == nil || service.Spec.Selector != nil {
		return false
	}
	_, elects := endpoints.Annotations[leaderAnnotation]
	return !elects && endpoints.Labels[discoveryv1.LabelSkipMirror] != "true"
}

// group are endpoints of one family with the same ports.
type group struct {
	family discoveryv1.AddressType
	ports  []discoveryv1.EndpointPort
	// wanted are the endpoints by what tells them apart.
	wanted map[string]discoveryv1.Endpoint
}

// Decide works out the slices. It changes nothing that it is given. The subsets must be in
// canonical form.
func Decide(endpoints *corev1.Endpoints, subsets []corev1.EndpointSubset, present []*discoveryv1.EndpointSlice) Plan {
	var plan Plan
	groups := map[string]*group{}
	for i := range subsets {
		plan.collect(groups, &subsets[i])
	}
	existing := map[string][]*discoveryv1.EndpointSlice{}
	for _, slice := range present {
		key := groupKey(slice.AddressType, slice.Ports)
		existing[key] = append(existing[key], slice)
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		plan.fit(endpoints, groups[key], existing[key])
		delete(existing, key)
	}
	for _, key := range slices.Sorted(maps.Keys(existing)) {
		plan.Delete = append(plan.Delete, existing[key]...)
	}
	plan.recycle()
	return plan
}

// collect puts a subset's addresses into the groups of their families.
func (p *Plan) collect(groups map[string]*group, subset *corev1.EndpointSubset) {
	ports := mirroredPorts(subset.Ports)
	added, all := 0, len(subset.Addresses)+len(subset.NotReadyAddresses)
	take := func(addresses []corev1.EndpointAddress, ready bool) {
		for i := range addresses {
			if added >= maxEndpoints {
				return
			}
			endpoint, family, ok := mirrored(&addresses[i], ready)
			if !ok {
				p.Invalid++
				continue
			}
			key := groupKey(family, ports)
			if groups[key] == nil {
				groups[key] = &group{family: family, ports: ports, wanted: map[string]discoveryv1.Endpoint{}}
			}
			groups[key].wanted[endpointKey(&endpoint)] = endpoint
			added++
		}
	}
	take(subset.Addresses, true)
	take(subset.NotReadyAddresses, false)
	p.Skipped += all - added
}

func mirroredPorts(ports []corev1.EndpointPort) []discoveryv1.EndpointPort {
	mirrored := make([]discoveryv1.EndpointPort, 0, len(ports))
	for _, port := range ports {
		mirrored = append(mirrored, discoveryv1.EndpointPort{
			Name: ptr.To(port.Name), Port: ptr.To(port.Port), Protocol: ptr.To(port.Protocol), AppProtocol: port.AppProtocol,
		})
	}
	return mirrored
}

// mirrored is an address as an endpoint; not ok, if it is none.
func mirrored(address *corev1.EndpointAddress, ready bool) (endpoint discoveryv1.Endpoint, family discoveryv1.AddressType, ok bool) {
	ip := netutils.ParseIPSloppy(address.IP)
	if ip == nil {
		return endpoint, "", false
	}
	endpoint = discoveryv1.Endpoint{
		Addresses: []string{ip.String()}, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		TargetRef: address.TargetRef, NodeName: address.NodeName,
	}
	if address.Hostname != "" {
		endpoint.Hostname = ptr.To(address.Hostname)
	}
	return endpoint, familyOf(ip), true
}

func familyOf(ip net.IP) discoveryv1.AddressType {
	if ip.To4() == nil {
		return discoveryv1.AddressTypeIPv6
	}
	return discoveryv1.AddressTypeIPv4
}

// groupKey is equal for equal families and ports, in whatever order.
func groupKey(family discoveryv1.AddressType, ports []discoveryv1.EndpointPort) string {
	keys := make([]string, 0, len(ports))
	for i := range ports {
		port := &ports[i]
		keys = append(keys, fmt.Sprintf("%s/%d/%s/%s", ptr.Deref(port.Name, ""), ptr.Deref(port.Port, -1),
			ptr.Deref(port.Protocol, ""), ptr.Deref(port.AppProtocol, "")))
	}
	slices.Sort(keys)
	return string(family) + " " + strings.Join(keys, " ")
}

// endpointKey tells endpoints apart: by address, target and hostname.
func endpointKey(e *discoveryv1.Endpoint) string {
	key := strings.Join(e.Addresses, ",") + " " + ptr.Deref(e.Hostname, "")
	if e.TargetRef != nil {
		key += " " + e.TargetRef.Namespace + "/" + e.TargetRef.Name + " " + string(e.TargetRef.UID)
	}
	return key
}

// fit makes one slice of a group: the first that there is, or a new one.
func (p *Plan) fit(endpoints *corev1.Endpoints, g *group, present []*discoveryv1.EndpointSlice) {
	wanted := newSlice(endpoints, g)
	if len(present) == 0 {
		p.Create = append(p.Create, wanted)
		return
	}
	first := present[0]
	p.Delete = append(p.Delete, present[1:]...)
	if !sameSlice(first, wanted, g) {
		p.Update = append(p.Update, named(wanted, first))
	}
}

// named gives a slice the place of another.
func named(slice, place *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	slice.GenerateName, slice.Name, slice.ResourceVersion, slice.UID = "", place.Name, place.ResourceVersion, place.UID
	return slice
}

// sameSlice says that a slice is as it should be, in whatever order its endpoints are.
func sameSlice(present, wanted *discoveryv1.EndpointSlice, g *group) bool {
	if len(present.Endpoints) != len(g.wanted) || !apiequality.Semantic.DeepEqual(present.Labels, wanted.Labels) ||
		!apiequality.Semantic.DeepEqual(present.Annotations, wanted.Annotations) ||
		!apiequality.Semantic.DeepEqual(present.OwnerReferences, wanted.OwnerReferences) {
		return false
	}
	for i := range present.Endpoints {
		if want, ok := g.wanted[endpointKey(&present.Endpoints[i])]; !ok || !apiequality.Semantic.DeepEqual(want, present.Endpoints[i]) {
			return false
		}
	}
	return true
}

func newSlice(endpoints *corev1.Endpoints, g *group) *discoveryv1.EndpointSlice {
	prefix := endpoints.Name + "-"
	if len(prefix) > validation.DNS1123SubdomainMaxLength {
		prefix = endpoints.Name
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: prefix, Namespace: endpoints.Namespace, Labels: map[string]string{}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(endpoints, corev1.SchemeGroupVersion.WithKind("Endpoints"))},
		},
		AddressType: g.family, Ports: g.ports, Endpoints: make([]discoveryv1.Endpoint, 0, len(g.wanted)),
	}
	maps.Copy(slice.Labels, endpoints.Labels)
	slice.Labels[discoveryv1.LabelServiceName] = endpoints.Name
	slice.Labels[discoveryv1.LabelManagedBy] = managedBy
	maps.Copy(slice.Annotations, endpoints.Annotations)
	delete(slice.Annotations, corev1.EndpointsLastChangeTriggerTime)
	delete(slice.Annotations, corev1.LastAppliedConfigAnnotation)
	for _, key := range slices.Sorted(maps.Keys(g.wanted)) {
		slice.Endpoints = append(slice.Endpoints, g.wanted[key])
	}
	slice.Endpoints = slice.Endpoints[:min(len(slice.Endpoints), maxEndpoints)]
	return slice
}

// recycle turns a creation and a deletion of one family into an update, which is one event
// less for every proxy.
func (p *Plan) recycle() {
	p.Create = slices.DeleteFunc(p.Create, func(created *discoveryv1.EndpointSlice) bool {
		at := slices.IndexFunc(p.Delete, func(old *discoveryv1.EndpointSlice) bool { return old.AddressType == created.AddressType })
		if at < 0 {
			return false
		}
		p.Update = append(p.Update, named(created, p.Delete[at]))
		p.Delete = slices.Delete(p.Delete, at, at+1)
		return true
	})
}
