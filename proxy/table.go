package proxy

import "sigs.k8s.io/knftables"

// tableName is the nftables table that belongs to the proxy alone.
const tableName = "kogge"

// Names of the chains that are always there.
const (
	chainServices   = "services"
	chainRefusals   = "refusals"
	chainMasquerade = "mark-for-masquerade"
	chainReject     = "refuse"
)

// Names of the maps and sets that are always there.
const (
	mapServices         = "service-addresses"
	mapNodePorts        = "service-node-ports"
	mapRefused          = "refused-addresses"
	mapRefusedNodePorts = "refused-node-ports"
	setClusterAddresses = "cluster-addresses"
	setHairpins         = "hairpins"
)

// table is the content of the nftables table, as data.
type table struct {
	// chains are the rules of each chain, base chains included, in order.
	chains map[string][]string
	// affinity are the sets in which the kernel itself notes clients; their elements are not ours.
	affinity map[string]struct{}
	// elements are those of the maps and sets that are always there: container → key → value ("" in sets). A key's
	// parts are joined by keySeparator.
	elements map[string]map[string]string
}

const keySeparator = " . "

func newTable() *table {
	made := &table{chains: map[string][]string{}, affinity: map[string]struct{}{}, elements: map[string]map[string]string{}}
	for _, name := range containerNames() {
		made.elements[name] = map[string]string{}
	}
	return made
}

// baseChain is a chain that hangs on one of the kernel's hooks.
type baseChain struct {
	name     string
	kind     knftables.BaseChainType
	hook     knftables.BaseChainHook
	priority knftables.BaseChainPriority
	rules    []string
}

// baseChains hang where the kernel itself translates addresses and filters. Refusals come after translation: what
// still has a Service's address then found no endpoint. The output hook's translation has no named priority in
// older nft: it is dstnat's -100.
var baseChains = []baseChain{
	{"nat-prerouting", knftables.NATType, knftables.PreroutingHook, knftables.DNATPriority, []string{"jump " + chainServices}},
	{"nat-output", knftables.NATType, knftables.OutputHook, "-100", []string{"jump " + chainServices}},
	{"nat-postrouting", knftables.NATType, knftables.PostroutingHook, knftables.SNATPriority, []string{
		"mark and " + markBit + " != 0 mark set mark xor " + markBit + " masquerade fully-random",
		"ct status dnat ip saddr . ip daddr @" + setHairpins + " masquerade fully-random",
	}},
	{"filter-input", knftables.FilterType, knftables.InputHook, knftables.FilterPriority, refuseNew},
	{"filter-forward", knftables.FilterType, knftables.ForwardHook, knftables.FilterPriority, refuseNew},
	{"filter-output", knftables.FilterType, knftables.OutputHook, knftables.FilterPriority, refuseNew},
}

var refuseNew = []string{"ct state new jump " + chainRefusals}

// markBit is the bit of a packet's mark that asks for masquerading: upstream's default.
const markBit = "0x4000"

// containers are the maps and sets, by name, with the type of their keys.
var containers = []struct {
	name, key string
	isMap     bool
}{
	{mapServices, "ipv4_addr . inet_proto . inet_service", true},
	{mapNodePorts, "inet_proto . inet_service", true},
	{mapRefused, "ipv4_addr . inet_proto . inet_service", true},
	{mapRefusedNodePorts, "inet_proto . inet_service", true},
	{setClusterAddresses, "ipv4_addr", false},
	{setHairpins, "ipv4_addr . ipv4_addr", false},
}

func containerNames() []string {
	names := make([]string, 0, len(containers))
	for _, container := range containers {
		names = append(names, container.name)
	}
	return names
}
