package endpointslice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
)

// maxEndpoints is how many endpoints one slice holds, upstream's default.
const maxEndpoints = 100

// Observed is everything that a decision about one Service rests on.
type Observed struct {
	Service *corev1.Service
	// Pods are those that the Service selects.
	Pods []corev1.Pod
	// Nodes has the nodes that the pods run on, by name.
	Nodes map[string]*corev1.Node
	// Slices are those that this controller has made for a Service of this name.
	Slices []discoveryv1.EndpointSlice
}

// Plan is what to do about one Service's slices.
type Plan struct {
	Create, Update, Delete []*discoveryv1.EndpointSlice
	// MissingNodes names nodes that pods claim to run on and that aren't known (yet).
	// Their pods were left out; look again.
	MissingNodes []string
}

// Decide works out the slices of one Service. It changes nothing that it is given.
func Decide(observed Observed) Plan {
	var plan Plan
	families := backends.Families(observed.Service)
	for _, family := range families {
		plan.decideFamily(observed, family)
	}
	for i := range observed.Slices {
		if !slices.Contains(families, corev1.IPFamily(observed.Slices[i].AddressType)) {
			plan.Delete = append(plan.Delete, &observed.Slices[i])
		}
	}
	slices.Sort(plan.MissingNodes)
	plan.MissingNodes = slices.Compact(plan.MissingNodes)
	return plan
}

// group is a set of endpoints with the same ports, and the slices there are for it.
type group struct {
	ports   []discoveryv1.EndpointPort
	wanted  []discoveryv1.Endpoint
	present []*discoveryv1.EndpointSlice
}

func (p *Plan) decideFamily(observed Observed, family corev1.IPFamily) {
	service := observed.Service
	groups := p.wantedGroups(observed, family)
	var family2, gone []*discoveryv1.EndpointSlice
	for i := range observed.Slices {
		slice := &observed.Slices[i]
		if slice.AddressType != discoveryv1.AddressType(family) {
			continue
		}
		family2 = append(family2, slice)
		g, ok := groups[portsKey(slice.Ports)]
		if !ok || !ownedBy(slice, service) {
			gone = append(gone, slice)
			continue
		}
		g.present = append(g.present, slice)
	}
	change := changes{}
	for _, key := range sortedKeys(groups) {
		change.fit(service, family, groups[key])
	}
	change.delete = append(change.delete, gone...)
	if len(change.delete) == len(family2) && len(change.create) == 0 {
		change.placeholder(newSlice(service, family, nil))
	}
	change.recycle(service)
	p.Create = append(p.Create, change.create...)
	p.Update = append(p.Update, change.update...)
	p.Delete = append(p.Delete, change.delete...)
}

// wantedGroups sorts the pods into groups by their ports.
func (p *Plan) wantedGroups(observed Observed, family corev1.IPFamily) map[string]*group {
	groups := map[string]*group{}
	for i := range observed.Pods {
		pod := &observed.Pods[i]
		if !backends.Serves(pod, true) {
			continue
		}
		ports := newPorts(observed.Service, pod)
		key := portsKey(ports)
		if groups[key] == nil {
			groups[key] = &group{ports: ports}
		}
		node := observed.Nodes[pod.Spec.NodeName]
		if node == nil && !observed.Service.Spec.PublishNotReadyAddresses {
			p.MissingNodes = append(p.MissingNodes, pod.Spec.NodeName)
			continue
		}
		if endpoint := newEndpoint(observed.Service, pod, node, family); len(endpoint.Addresses) > 0 {
			groups[key].wanted = append(groups[key].wanted, endpoint)
		}
	}
	return groups
}

// portsKey is equal for equal ports in whatever order.
func portsKey(ports []discoveryv1.EndpointPort) string {
	keys := make([]string, 0, len(ports))
	for i := range ports {
		port := &ports[i]
		keys = append(keys, fmt.Sprintf("%s/%d/%s/%s", ptr.Deref(port.Name, ""), ptr.Deref(port.Port, -1),
			ptr.Deref(port.Protocol, ""), ptr.Deref(port.AppProtocol, "")))
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

func sortedKeys(groups map[string]*group) []string {
	keys := make([]string, 0, len(groups))
	for key := range groups {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// endpointKey tells endpoints apart: by address, pod and hostname.
func endpointKey(e *discoveryv1.Endpoint) string {
	key := strings.Join(e.Addresses, ",") + " " + ptr.Deref(e.Hostname, "")
	if e.TargetRef != nil {
		key += " " + e.TargetRef.Namespace + "/" + e.TargetRef.Name + " " + string(e.TargetRef.UID)
	}
	return key
}

// changes collects what happens to the slices of one family.
type changes struct{ create, update, delete []*discoveryv1.EndpointSlice }

// fit distributes a group's endpoints over its slices.
func (c *changes) fit(service *corev1.Service, family corev1.IPFamily, g *group) {
	left := make(map[string]discoveryv1.Endpoint, len(g.wanted))
	for i := range g.wanted {
		left[endpointKey(&g.wanted[i])] = g.wanted[i]
	}
	labels := sliceLabels(service)
	var changed, unchanged []*discoveryv1.EndpointSlice
	for _, slice := range g.present {
		next := keepWanted(slice, left)
		next.Labels = labels
		switch {
		case apiequality.Semantic.DeepEqual(slice.Endpoints, next.Endpoints) && apiequality.Semantic.DeepEqual(slice.Labels, labels):
			unchanged = append(unchanged, next)
		case len(next.Endpoints) == 0 && len(slice.Endpoints) > 0:
			c.delete = append(c.delete, slice)
		default:
			changed = append(changed, next)
		}
	}
	added := sortedEndpoints(left)
	slices.SortStableFunc(changed, fullestFirst)
	for _, slice := range changed {
		added = fill(slice, added)
	}
	for len(added) > 0 {
		slice := bestFit(unchanged, len(added))
		if slice == nil {
			slice = newSlice(service, family, g.ports)
			c.create = append(c.create, slice)
		} else {
			unchanged = slices.DeleteFunc(unchanged, func(s *discoveryv1.EndpointSlice) bool { return s == slice })
			changed = append(changed, slice)
		}
		added = fill(slice, added)
	}
	c.update = append(c.update, changed...)
}

// keepWanted copies a slice with those endpoints that are still wanted, in their present
// state, and takes them off the list of those left to place.
func keepWanted(slice *discoveryv1.EndpointSlice, left map[string]discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	next := slice.DeepCopy()
	next.Endpoints = nil
	for i := range slice.Endpoints {
		key := endpointKey(&slice.Endpoints[i])
		if wanted, ok := left[key]; ok {
			next.Endpoints = append(next.Endpoints, wanted)
			delete(left, key)
		}
	}
	return next
}

func sortedEndpoints(left map[string]discoveryv1.Endpoint) []discoveryv1.Endpoint {
	endpoints := make([]discoveryv1.Endpoint, 0, len(left))
	for _, endpoint := range left {
		endpoints = append(endpoints, endpoint)
	}
	slices.SortFunc(endpoints, func(a, b discoveryv1.Endpoint) int {
		return strings.Compare(endpointKey(&a), endpointKey(&b))
	})
	return endpoints
}

func fullestFirst(a, b *discoveryv1.EndpointSlice) int {
	return cmp.Compare(len(b.Endpoints), len(a.Endpoints))
}

// fill moves endpoints into a slice until it is full and gives those left over.
func fill(slice *discoveryv1.EndpointSlice, endpoints []discoveryv1.Endpoint) []discoveryv1.Endpoint {
	room := min(maxEndpoints-len(slice.Endpoints), len(endpoints))
	slice.Endpoints = append(slice.Endpoints, endpoints[:room]...)
	return endpoints[room:]
}

// bestFit is the slice that count endpoints would fill best; nil when they fit in none.
func bestFit(candidates []*discoveryv1.EndpointSlice, count int) (best *discoveryv1.EndpointSlice) {
	for _, slice := range candidates {
		if len(slice.Endpoints)+count <= maxEndpoints && (best == nil || len(slice.Endpoints) > len(best.Endpoints)) {
			best = slice
		}
	}
	return best
}

// placeholder stands in when there is nothing else, so that a Service always has a slice.
func (c *changes) placeholder(empty *discoveryv1.EndpointSlice) {
	if len(c.delete) == 1 {
		if only := c.delete[0]; len(only.Endpoints) == 0 && len(only.Ports) == 0 &&
			apiequality.Semantic.DeepEqual(only.Labels, empty.Labels) &&
			apiequality.Semantic.DeepEqual(only.OwnerReferences, empty.OwnerReferences) {
			c.delete = nil
			return
		}
	}
	c.create = append(c.create, empty)
}

// recycle turns a creation and a deletion into an update, which is one event less for
// every node. Slices of an earlier Service of the same name are never reused.
func (c *changes) recycle(service *corev1.Service) {
	c.delete = slices.DeleteFunc(c.delete, func(old *discoveryv1.EndpointSlice) bool {
		if len(c.create) == 0 || !ownedBy(old, service) {
			return false
		}
		last := c.create[len(c.create)-1]
		c.create = c.create[:len(c.create)-1]
		next := old.DeepCopy()
		next.Labels, next.Endpoints, next.Ports = last.Labels, last.Endpoints, last.Ports
		c.update = append(c.update, next)
		return true
	})
}
