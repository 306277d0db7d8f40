package proxy

import (
	"fmt"
	"net/netip"
	"strings"
)

// render writes the planned ports as the content of the table. clusterCIDR is the pods' range; when it is not
// valid, where a packet comes from never makes it masqueraded.
func render(ports []servicePort, clusterCIDR netip.Prefix) *table {
	rendered := newTable()
	for _, base := range baseChains {
		rendered.chains[base.name] = base.rules
	}
	rendered.chains[chainMasquerade] = []string{"mark set mark or " + markBit}
	rendered.chains[chainReject] = []string{"reject"}
	rendered.chains[chainServices] = servicesRules(clusterCIDR)
	rendered.chains[chainRefusals] = []string{
		"ip daddr . meta l4proto . th dport vmap @" + mapRefused,
		toNodePort + " vmap @" + mapRefusedNodePorts,
		// A Service's address, but none of its ports.
		"ip daddr @" + setClusterAddresses + " reject",
	}
	for _, port := range ports {
		rendered.add(port, clusterCIDR)
	}
	return rendered
}

// toNodePort matches what is sent to an address of this node; loopback is left to those who listen there.
const toNodePort = "fib daddr type local ip daddr != 127.0.0.0/8 meta l4proto . th dport"

func servicesRules(clusterCIDR netip.Prefix) []string {
	var rules []string
	if clusterCIDR.IsValid() {
		rules = append(rules, fmt.Sprintf("ip daddr @%s ip saddr != %s jump %s", setClusterAddresses, clusterCIDR, chainMasquerade))
	}
	return append(rules,
		"ip daddr . meta l4proto . th dport vmap @"+mapServices,
		toNodePort+" vmap @"+mapNodePorts,
	)
}

func (t *table) add(port servicePort, clusterCIDR netip.Prefix) {
	cluster, local, external := "cluster-"+port.name, "local-"+port.name, "external-"+port.name
	if len(port.cluster) > 0 {
		t.chains[cluster] = t.balance(port, port.cluster)
	}

	if len(port.local) > 0 && (port.internalLocal || port.externalLocal) {
		t.chains[local] = t.balance(port, port.local)
	}
	t.addInternal(port, cluster, local)
	if len(port.external) > 0 || port.nodePort != 0 {
		t.addExternal(port, cluster, local, external, clusterCIDR)
	}
	for _, address := range port.hairpin {
		t.elements[setHairpins][address.String()+keySeparator+address.String()] = ""
	}
}

// addInternal leads the cluster address to the endpoints. Without any, the set of cluster addresses has the packet
// rejected; but where only the policy keeps endpoints away, it is dropped, as upstream does.
func (t *table) addInternal(port servicePort, cluster, local string) {
	t.elements[setClusterAddresses][port.internal.String()] = ""
	key := addressKey(port.internal, port)
	switch {
	case !port.internalLocal && len(port.cluster) > 0:
		t.elements[mapServices][key] = "goto " + cluster
	case port.internalLocal && len(port.local) > 0:
		t.elements[mapServices][key] = "goto " + local
	case port.internalLocal && len(port.cluster) > 0:
		t.elements[mapRefused][key] = "drop"
	}
}

// addExternal leads external addresses and the node port to the external chain, or to a refusal.
func (t *table) addExternal(port servicePort, cluster, local, external string, clusterCIDR netip.Prefix) {
	forward, refuse := "", ""
	switch {
	case len(port.cluster) == 0:
		refuse = "goto " + chainReject
	case port.externalLocal && len(port.local) == 0:
		// Pods and the node itself still get through: theirs is not external traffic.
		forward, refuse = "goto "+external, "drop"
	default:
		forward = "goto " + external
	}
	if forward != "" {
		t.chains[external] = externalRules(port, cluster, local, clusterCIDR)
	}
	set := func(container, key, verdict string) {
		if verdict != "" {
			t.elements[container][key] = verdict
		}
	}
	for _, address := range port.external {
		set(mapServices, addressKey(address, port), forward)
		set(mapRefused, addressKey(address, port), refuse)
	}
	if port.nodePort != 0 {
		set(mapNodePorts, nodePortKey(port), forward)
		set(mapRefusedNodePorts, nodePortKey(port), refuse)
	}
}

// externalRules: under the policy Cluster everything is masqueraded, since its endpoint may be on another node.
// Under Local the client's address stays, and only endpoints here are used; but what comes from a pod or from the
// node itself is treated as if it had used the cluster address.
func externalRules(port servicePort, cluster, local string, clusterCIDR netip.Prefix) []string {
	if !port.externalLocal {
		return []string{"jump " + chainMasquerade, "goto " + cluster}
	}
	var rules []string
	if clusterCIDR.IsValid() {
		rules = append(rules, fmt.Sprintf("ip saddr %s goto %s", clusterCIDR, cluster))
	}
	rules = append(rules, "fib saddr type local jump "+chainMasquerade, "fib saddr type local goto "+cluster)
	if len(port.local) > 0 {
		rules = append(rules, "goto "+local)
	}
	return rules
}

// balance picks one of the endpoints at random. With affinity, a client that an endpoint's set knows goes there.
func (t *table) balance(port servicePort, endpoints []netip.AddrPort) []string {
	protocol := "meta l4proto " + protocolName(port.protocol)
	if port.affinity == 0 {
		if len(endpoints) == 1 {
			return []string{fmt.Sprintf("%s dnat to %s", protocol, endpoints[0])}
		}
		choices := make([]string, 0, len(endpoints))
		for index, endpoint := range endpoints {
			choices = append(choices, fmt.Sprintf("%d : %s . %d", index, endpoint.Addr(), endpoint.Port()))
		}
		return []string{fmt.Sprintf("%s dnat ip to numgen random mod %d map { %s }", protocol, len(endpoints), strings.Join(choices, " , "))}
	}
	var known, choices []string
	for index, endpoint := range endpoints {
		suffix := fmt.Sprintf("%s/%s/%d", port.name, endpoint.Addr(), endpoint.Port())
		chain, set := "endpoint-"+suffix, "affinity-"+suffix
		t.affinity[set] = struct{}{}
		t.chains[chain] = []string{
			fmt.Sprintf("update @%s { ip saddr timeout %ds }", set, int(port.affinity.Seconds())),
			fmt.Sprintf("%s dnat to %s", protocol, endpoint),
		}
		known = append(known, fmt.Sprintf("ip saddr @%s goto %s", set, chain))
		choices = append(choices, fmt.Sprintf("%d : goto %s", index, chain))
	}
	return append(known, fmt.Sprintf("numgen random mod %d vmap { %s }", len(endpoints), strings.Join(choices, " , ")))
}

func addressKey(address netip.Addr, port servicePort) string {
	return strings.Join([]string{address.String(), protocolName(port.protocol), fmt.Sprint(port.port)}, keySeparator)
}

func nodePortKey(port servicePort) string {
	return strings.Join([]string{protocolName(port.protocol), fmt.Sprint(port.nodePort)}, keySeparator)
}
