package proxy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/knftables"
)

// observe reads which chains and affinity sets the kernel has: those of a proxy before this one. What stands in the
// chains is not known: nil rules differ from all others. Affinity sets are kept, so that a proxy's restart doesn't
// send clients elsewhere.
func observe(ctx context.Context, nft knftables.Interface) (*table, error) {
	seen := newTable()
	names, err := nft.ListAll(ctx)
	if err != nil && !knftables.IsNotFound(err) {
		return nil, fmt.Errorf("list the table: %w", err)
	}
	for _, chain := range names["chain"] {
		seen.chains[chain] = nil
	}
	for _, set := range names["set"] {
		if strings.HasPrefix(set, "affinity-") {
			seen.affinity[set] = struct{}{}
		}
	}
	return seen, nil
}

// foundation adds, where they are missing, the table, the chains and the maps that are always there, and empties
// the maps: their elements are added by change.
func foundation(tx *knftables.Transaction) {
	tx.Add(&knftables.Table{})
	for _, base := range baseChains {
		tx.Add(&knftables.Chain{Name: base.name, Type: ptr.To(base.kind), Hook: ptr.To(base.hook), Priority: ptr.To(base.priority)})
	}
	for _, container := range containers {
		if container.isMap {
			tx.Add(&knftables.Map{Name: container.name, Type: container.key + " : verdict"})
			tx.Flush(&knftables.Map{Name: container.name})
		} else {
			tx.Add(&knftables.Set{Name: container.name, Type: container.key})
			tx.Flush(&knftables.Set{Name: container.name})
		}
	}
}

// remains are what nothing refers to any more. The kernel counts references until a transaction has ended, so they
// are removed in the next one.
type remains struct {
	chains, sets []string
}

func (r remains) remove(tx *knftables.Transaction) {
	for _, chain := range r.chains {
		tx.Delete(&knftables.Chain{Name: chain})
	}
	for _, set := range r.sets {
		tx.Delete(&knftables.Set{Name: set})
	}
}

// change adds to the transaction what turns one content into another: first what others will refer to, then what
// refers. Chains that are left over are emptied.
func change(tx *knftables.Transaction, have, want *table) remains {
	for _, set := range missing(want.affinity, have.affinity) {
		tx.Add(&knftables.Set{Name: set, Type: "ipv4_addr", Flags: []knftables.SetFlag{knftables.DynamicFlag, knftables.TimeoutFlag}})
	}
	names := slices.Sorted(maps.Keys(want.chains))
	for _, name := range names {
		if _, found := have.chains[name]; !found && !isBase(name) {
			tx.Add(&knftables.Chain{Name: name})
		}
	}
	for _, name := range names {
		present, found := have.chains[name]
		if found && present != nil && slices.Equal(present, want.chains[name]) {
			continue
		}
		if found {
			tx.Flush(&knftables.Chain{Name: name})
		}
		for _, rule := range want.chains[name] {
			tx.Add(&knftables.Rule{Chain: name, Rule: rule})
		}
	}
	for _, container := range containers {
		changeElements(tx, container.name, container.isMap, have.elements[container.name], want.elements[container.name])
	}
	leftover := remains{sets: missing(have.affinity, want.affinity)}
	for _, name := range slices.Sorted(maps.Keys(have.chains)) {
		if _, wanted := want.chains[name]; !wanted {
			tx.Flush(&knftables.Chain{Name: name})
			leftover.chains = append(leftover.chains, name)
		}
	}
	return leftover
}

func isBase(name string) bool {
	return slices.ContainsFunc(baseChains, func(base baseChain) bool { return base.name == name })
}

func changeElements(tx *knftables.Transaction, container string, isMap bool, have, want map[string]string) {
	element := func(key, value string) *knftables.Element {
		made := &knftables.Element{Key: strings.Split(key, keySeparator)}
		if isMap {
			made.Map, made.Value = container, []string{value}
		} else {
			made.Set = container
		}
		return made
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if value, wanted := want[key]; !wanted || value != have[key] {
			tx.Delete(element(key, have[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, found := have[key]; !found || value != want[key] {
			tx.Add(element(key, want[key]))
		}
	}
}

// missing are the names of one set that the other lacks, sorted.
func missing(from, in map[string]struct{}) []string {
	var names []string
	for name := range from {
		if _, found := in[name]; !found {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
