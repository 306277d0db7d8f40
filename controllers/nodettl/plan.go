package nodettl

import (
	"math"
	"slices"
)

// step holds for clusters of atLeast to atMost nodes. Upstream's figures.
type step struct{ atLeast, atMost, seconds int }

var steps = []step{
	{0, 100, 0}, {90, 500, 15}, {450, 1000, 30}, {900, 2000, 60}, {1800, math.MaxInt, 300},
}

// Seconds is how long objects may be kept in a cluster of that many nodes, where they could
// be kept for before seconds up to now.
func Seconds(nodes, before int) int {
	at := max(0, slices.IndexFunc(steps, func(s step) bool { return s.seconds == before }))
	for nodes > steps[at].atMost {
		at++
	}
	for nodes < steps[at].atLeast {
		at--
	}
	return steps[at].seconds
}
