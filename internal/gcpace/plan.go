package gcpace

import "time"

// Room for garbage, in bytes, for heaps up to some hundred MiB. Larger ones get a share of what lives: what a collection
// costs grows with that.
const (
	busyLeast = 64 << 20
	busyMost  = 192 << 20
	hotLeast  = 128 << 20
	hotMost   = 2 << 30
	idleLeast = 16 << 20
	idleMost  = 64 << 20
)

// idleFrom is from how long a time between two collections on a process counts as idle. The runtime collects every
// two minutes of its own accord.
const idleFrom = 20 * time.Second

// hotFrom is the share of the machine's time from which on a process is held up by collecting. It then gets the room with which that share
// would be the target, at most four times what lives, and never less than by the runtime's own rule; coolBelow takes it back, or a rest.
const (
	hotFrom   = 0.08
	target    = 0.05
	coolBelow = 0.01
)

// A rest is a time in which a hot process allocated less than this, in bytes.
const (
	rest     = 3 * time.Second
	restless = 32 << 20
)

// settling is how long a process that starts is left alone: it is busy for a moment only, and what it took then it
// would keep.
const settling = 2 * time.Second

// cycle is what is known of a collection, and of the time since the one before.
type cycle struct {
	live  uint64        // what it left, in bytes
	room  uint64        // how many bytes were allocated before it began
	since time.Duration // how long ago the one before was
	share float64       // how much of the time of all processors went into collecting, but for what idle ones did beside
	hot   bool          // so it was before, and no rest since
}

// heat says whether the process is held up by collecting. Who allocated little is not: it was collected for another reason, such as a rest.
func (c cycle) heat() bool {
	return c.room >= restless && (c.share >= hotFrom || c.hot && c.share >= coolBelow)
}

// next is how many bytes may be allocated until the next collection. Most is what a hot process may get on this machine.
func (c cycle) next(most uint64) uint64 {
	if c.heat() {
		wanted := uint64(float64(c.room) * c.share / target)
		return max(min(wanted, 4*c.live, most), c.live, hotLeast)
	}
	if c.since >= idleFrom {
		return max(min(max(c.live/2, idleLeast), idleMost), c.live/8)
	}
	return max(min(max(c.live, busyLeast), busyMost), c.live/3)
}

// percent is the runtime's GOGC that gives this room.
func percent(live, room uint64) int {
	live = max(live, 1<<20) // a heap just begun
	return int(max(room*100/live, 10))
}
