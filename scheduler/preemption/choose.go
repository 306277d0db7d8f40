package preemption

import (
	"cmp"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// choose gives the candidates that hurt least: the fewest violated budgets, then the least
// urgent first victim, the smallest sum of priorities, the fewest victims, and the latest
// start. Several are equals.
func choose(candidates []Candidate) []Candidate {
	best := candidates[:1:1]
	for _, next := range candidates[1:] {
		switch harm := hurts(&next, &best[0]); {
		case harm < 0:
			best = []Candidate{next}
		case harm == 0:
			best = append(best, next)
		}
	}
	return best
}

// hurts is negative when a hurts less than b.
func hurts(a, b *Candidate) int {
	return cmp.Or(
		cmp.Compare(a.Violations, b.Violations),
		cmp.Compare(framework.Priority(a.Victims[0]), framework.Priority(b.Victims[0])),
		cmp.Compare(priorities(a), priorities(b)),
		cmp.Compare(len(a.Victims), len(b.Victims)),
		-compareStart(firstStart(a), firstStart(b)),
	)
}

// priorities is the sum, shifted so that each victim adds to it, however negative.
func priorities(c *Candidate) (sum int64) {
	for _, pod := range c.Victims {
		sum += int64(framework.Priority(pod)) + math.MaxInt32 + 1
	}
	return sum
}

// firstStart is when the first of the most urgent victims started.
func firstStart(c *Candidate) *metav1.Time {
	first := c.Victims[0].Status.StartTime
	for _, pod := range c.Victims {
		if framework.Priority(pod) == framework.Priority(c.Victims[0]) && compareStart(pod.Status.StartTime, first) < 0 {
			first = pod.Status.StartTime
		}
	}
	return first
}
