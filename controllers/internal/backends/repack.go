package backends

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Repack brings subsets into the canonical form: every address is listed once for each
// set of ports that it has, addresses with equal ports share a subset, and everything is
// sorted. An address that is ready in one place and not in another is not ready.
//
//	10.0.0.1:80, 10.0.0.2:80, 10.0.0.1:443, 10.0.0.2:443, 10.0.0.3:80
//	   → {10.0.0.3 : 80} {10.0.0.1 10.0.0.2 : 80 443}   … and 10.0.0.3 not with the others
func Repack(subsets []corev1.EndpointSubset) []corev1.EndpointSubset {
	// First, by port: which addresses have it.
	ports := map[string]*offered{}
	for i := range subsets {
		if len(subsets[i].Ports) == 0 {
			collect(ports, nil, &subsets[i])
		}
		for j := range subsets[i].Ports {
			collect(ports, &subsets[i].Ports[j], &subsets[i])
		}
	}
	// Then, by equal sets of addresses: which ports they have in common.
	sets := map[string]*corev1.EndpointSubset{}
	for _, o := range ports {
		key := o.key()
		subset, ok := sets[key]
		if !ok {
			subset = o.subset()
			sets[key] = subset
		}
		if o.port != nil {
			subset.Ports = append(subset.Ports, *o.port)
		}
	}
	packed := make([]corev1.EndpointSubset, 0, len(sets))
	for _, subset := range sets {
		slices.SortFunc(subset.Ports, func(a, b corev1.EndpointPort) int {
			return bytes.Compare(ContentHash(a), ContentHash(b))
		})
		packed = append(packed, *subset)
	}
	slices.SortFunc(packed, func(a, b corev1.EndpointSubset) int {
		return bytes.Compare(ContentHash(a), ContentHash(b))
	})
	return packed
}

// offered is one port and the addresses that have it.
type offered struct {
	port      *corev1.EndpointPort
	addresses map[string]*placed
}

type placed struct {
	address corev1.EndpointAddress
	ready   bool
}

func collect(ports map[string]*offered, port *corev1.EndpointPort, subset *corev1.EndpointSubset) {
	key := "none"
	if port != nil {
		key = fmt.Sprintf("%s/%d/%s/%s", port.Name, port.Port, port.Protocol, ptr.Deref(port.AppProtocol, ""))
	}
	if ports[key] == nil {
		ports[key] = &offered{port: port, addresses: map[string]*placed{}}
	}
	for i := range subset.Addresses {
		ports[key].add(subset.Addresses[i], true)
	}
	for i := range subset.NotReadyAddresses {
		ports[key].add(subset.NotReadyAddresses[i], false)
	}
}

func (o *offered) add(address corev1.EndpointAddress, ready bool) {
	key := addressKey(&address)
	if present, ok := o.addresses[key]; ok {
		present.ready = present.ready && ready
		return
	}
	o.addresses[key] = &placed{address: address, ready: ready}
}

// addressKey orders addresses as upstream does, by the text of the address, then by uid.
func addressKey(address *corev1.EndpointAddress) string {
	if address.TargetRef == nil {
		return address.IP + "\x00"
	}
	return address.IP + "\x00" + string(address.TargetRef.UID)
}

func (o *offered) sorted() []string {
	keys := make([]string, 0, len(o.addresses))
	for key := range o.addresses {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// key is equal for the same addresses in the same state.
func (o *offered) key() string {
	var b strings.Builder
	for _, key := range o.sorted() {
		fmt.Fprintf(&b, "%s %t\n", key, o.addresses[key].ready)
	}
	return b.String()
}

func (o *offered) subset() *corev1.EndpointSubset {
	subset := &corev1.EndpointSubset{}
	for _, key := range o.sorted() {
		if p := o.addresses[key]; p.ready {
			subset.Addresses = append(subset.Addresses, p.address)
		} else {
			subset.NotReadyAddresses = append(subset.NotReadyAddresses, p.address)
		}
	}
	return subset
}
