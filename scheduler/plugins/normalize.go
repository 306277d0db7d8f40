package plugins

import (
	"slices"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// normalize stretches scores so that the best becomes MaxScore; reversed, the smallest
// number is the best. When all are zero they stay so; reversed, all are the best.
func normalize(scores []int64, reversed bool) {
	if len(scores) == 0 {
		return
	}
	best := slices.Max(scores)
	for i := range scores {
		if best > 0 {
			scores[i] = framework.MaxScore * scores[i] / best
		}
		if reversed {
			scores[i] = framework.MaxScore - scores[i]
		}
	}
}
