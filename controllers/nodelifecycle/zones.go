package nodelifecycle

import (
	"sync"

	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// Upstream's defaults of --node-eviction-rate, --secondary-node-eviction-rate,
// --unhealthy-zone-threshold and --large-cluster-size-threshold.
const (
	evictionRate       = 0.1
	slowEvictionRate   = 0.01
	unhealthyThreshold = 0.55
	largeZone          = 50
)

// zoneState says how bad things are in a zone.
type zoneState int

const (
	zoneNormal zoneState = iota
	// zonePartial: most nodes fail, and more than two.
	zonePartial
	// zoneFull: every node fails.
	zoneFull
)

// stateOf judges a zone by how many of its nodes fail.
func stateOf(failing, total int) zoneState {
	switch {
	case total > 0 && failing == total:
		return zoneFull
	case failing > 2 && float64(failing)/float64(total) >= unhealthyThreshold:
		return zonePartial
	}
	return zoneNormal
}

// rate is how many nodes a second may be tainted for eviction in such a zone. When most
// of a small zone fails, evicted pods would only crowd the few nodes that are left.
func rate(state zoneState, total int) float32 {
	switch {
	case state != zonePartial:
		return evictionRate
	case total > largeZone:
		return slowEvictionRate
	}
	return 0
}

// zones counts nodes by zone and brakes their eviction. It is safe for concurrent use.
type zones struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	nodes map[string]placed
	byKey map[string]*zone
}

type placed struct {
	zone    string
	failing bool
}

type zone struct {
	total, failing int
	rate           float32
	limiter        flowcontrol.PassiveRateLimiter
}

func newZones(c clock.PassiveClock) *zones {
	return &zones{clock: c, nodes: map[string]placed{}, byKey: map[string]*zone{}}
}

// record notes where a node is and whether it fails.
func (z *zones) record(node, key string, failing bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.drop(node)
	if z.byKey[key] == nil {
		z.byKey[key] = &zone{}
	}
	z.nodes[node] = placed{zone: key, failing: failing}
	z.byKey[key].total++
	if failing {
		z.byKey[key].failing++
	}
}

// forget drops a node that is gone.
func (z *zones) forget(node string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.drop(node)
}

func (z *zones) drop(node string) {
	was, ok := z.nodes[node]
	if !ok {
		return
	}
	delete(z.nodes, node)
	z.byKey[was.zone].total--
	if was.failing {
		z.byKey[was.zone].failing--
	}
}

// allFail says that every node of every zone fails.
func (z *zones) allFail() bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.allFailLocked()
}

func (z *zones) allFailLocked() bool {
	for _, zone := range z.byKey {
		if zone.failing < zone.total {
			return false
		}
	}
	return len(z.nodes) > 0
}

// mayEvict asks for leave to taint one more node of a zone, and takes it.
func (z *zones) mayEvict(key string) bool {
	z.mu.Lock()
	defer z.mu.Unlock()
	zone := z.byKey[key]
	if zone == nil || z.allFailLocked() {
		return false
	}
	allowed := rate(stateOf(zone.failing, zone.total), zone.total)
	if allowed == 0 {
		zone.rate, zone.limiter = 0, nil
		return false
	}
	if zone.limiter == nil || zone.rate != allowed {
		zone.rate = allowed
		zone.limiter = flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(allowed, 1, z.clock)
	}
	return zone.limiter.TryAccept()
}
