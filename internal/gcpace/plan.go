package gcpace

import "time"

// Room for garbage, in bytes, for heaps up to some hundred MiB. Larger ones get a share of what lives: what a collection
// costs grows with that.
const (
	busyLeast = 64 << 20
	busyMost  = 192 << 20
	hotMost   = 640 << 20
	idleLeast = 16 << 20
	idleMost  = 64 << 20
)

// idleFrom is from how long a time between two collections on a process counts as idle. The runtime collects every
// two minutes of its own accord.
const idleFrom = 20 * time.Second

// hotBelow is the time between two collections below which a process does little else than collect: it gets twice the room, and never
// less than by the runtime's own rule. It gives that back after a rest.
const (
	hotBelow = time.Second / 2
	rest     = 3 * time.Second
)

// settling is how long a process that starts is left alone: it is busy for a moment only, and what it took then it
// would keep.
const settling = 10 * time.Second

// room is how many bytes may be allocated until the next collection. Live is what the last one left, in bytes, since
// the time between it and the one before.
func room(live uint64, since time.Duration) uint64 {
	if since >= idleFrom {
		return max(min(max(live/2, idleLeast), idleMost), live/8)
	}
	if since < hotBelow {
		return max(min(2*live, hotMost), 2*busyLeast, live)
	}
	return max(min(max(live, busyLeast), busyMost), live/3)
}

// percent is the runtime's GOGC that gives this room.
func percent(live, room uint64) int {
	live = max(live, 1<<20) // a heap just begun
	return int(max(room*100/live, 10))
}
