package podautoscaler

import (
	"math"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
)

const (
	// downscaleWindow is how long a recommendation of more pods is remembered where no
	// behavior says so. Upstream's default.
	downscaleWindow = 5 * time.Minute
	// longestPeriod is the longest period that a scaling policy may have.
	longestPeriod = 30 * time.Minute
)

// timed is a number of pods, recommended or changed by, at a time.
type timed struct {
	count int32
	at    time.Time
}

// History is what was recommended and done for one autoscaler.
type History struct {
	recommended []timed
	ups, downs  []timed
}

// recommend gives the history with one more recommendation, and without those too old to
// matter.
func (h History) recommend(count int32, window time.Duration, now time.Time) History {
	h.recommended = append(younger(h.recommended, now.Add(-window)), timed{count, now})
	return h
}

// scaled gives the history with one more change.
func (h History) scaled(from, to int32, now time.Time) History {
	if to > from {
		h.ups = append(younger(h.ups, now.Add(-longestPeriod)), timed{to - from, now})
	} else {
		h.downs = append(younger(h.downs, now.Add(-longestPeriod)), timed{from - to, now})
	}
	return h
}

// younger copies those that aren't before a time.
func younger(all []timed, cutoff time.Time) []timed {
	return slices.DeleteFunc(slices.Clone(all), func(t timed) bool { return t.at.Before(cutoff) })
}

// changed is by how many pods the number changed since a time.
func changed(all []timed, since time.Time) (sum int32) {
	for _, t := range all {
		if t.at.After(since) {
			sum += t.count
		}
	}
	return sum
}

// bounds are what an autoscaler allows.
type bounds struct{ least, most int32 }

const (
	withinRange     = "DesiredWithinRange"
	withinRangeText = "the desired count is within the acceptable range"
)

// stabilize holds back a recommendation of fewer pods while a recent one was of more.
func stabilize(h History, desired int32, now time.Time) int32 {
	for _, r := range younger(h.recommended, now.Add(-downscaleWindow)) {
		desired = max(desired, r.count)
	}
	return desired
}

// limit keeps a number within the bounds, and from growing too fast: to twice as many, or 4.
func limit(current, desired int32, b bounds) (count int32, reason, message string) {
	fastest := int32(min(max(2*int64(current), 4), math.MaxInt32))
	switch {
	case desired < b.least:
		return b.least, "TooFewReplicas", "the desired replica count is less than the minimum replica count"
	case b.most > fastest && desired > fastest:
		return fastest, "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"
	case desired > b.most:
		return b.most, "TooManyReplicas", "the desired replica count is more than the maximum replica count"
	}
	return desired, withinRange, withinRangeText
}

func window(rules *autoscalingv2.HPAScalingRules, preset time.Duration) time.Duration {
	if rules == nil || rules.StabilizationWindowSeconds == nil {
		return preset
	}
	return time.Duration(*rules.StabilizationWindowSeconds) * time.Second
}

// stabilizeBy holds back changes in either direction, as the behavior says.
func stabilizeBy(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior, h History, current, desired int32, now time.Time) (count int32, reason, message string) {
	lowest, highest := desired, desired
	up, down := now.Add(-window(behavior.ScaleUp, 0)), now.Add(-window(behavior.ScaleDown, downscaleWindow))
	for _, r := range h.recommended {
		if r.at.After(up) {
			lowest = min(lowest, r.count)
		}
		if r.at.After(down) {
			highest = max(highest, r.count)
		}
	}
	count = min(max(current, lowest), highest)
	if desired >= current {
		return count, "ScaleUpStabilized", "recent recommendations were lower than current one, applying the lowest recent recommendation"
	}
	return count, "ScaleDownStabilized", "recent recommendations were higher than current one, applying the highest recent recommendation"
}

// limitBy keeps a number within the bounds, and from changing faster than the behavior allows.
func limitBy(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior, h History, current, desired int32, b bounds, now time.Time) (count int32, reason, message string) {
	switch {
	case desired > current:
		fastest := max(current, rate(behavior.ScaleUp, h, current, 1, now))
		if b.most > fastest && desired > fastest {
			return fastest, "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"
		}
		if desired > b.most {
			return b.most, "TooManyReplicas", "the desired replica count is more than the maximum replica count"
		}
	case desired < current:
		fastest := min(current, rate(behavior.ScaleDown, h, current, -1, now))
		if b.least < fastest && desired < fastest {
			return fastest, "ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate"
		}
		if desired < b.least {
			return b.least, "TooFewReplicas", "the desired replica count is less than the minimum replica count"
		}
	}
	return desired, withinRange, withinRangeText
}

// rate is the number of pods that the rules let the workload reach now, growing (direction 1)
// or shrinking (-1).
func rate(rules *autoscalingv2.HPAScalingRules, h History, current int32, direction int32, now time.Time) int32 {
	selected := autoscalingv2.MaxChangePolicySelect
	if rules != nil {
		selected = ptr.Deref(rules.SelectPolicy, selected)
	}
	if rules == nil || selected == autoscalingv2.DisabledPolicySelect || len(rules.Policies) == 0 {
		return current
	}
	var result int32
	for i, policy := range rules.Policies {
		since := now.Add(-time.Duration(policy.PeriodSeconds) * time.Second)
		start := current - changed(h.ups, since) + changed(h.downs, since)
		proposed := start + direction*policy.Value
		if policy.Type == autoscalingv2.PercentScalingPolicy {
			share := float64(start) * (1 + float64(direction)*float64(policy.Value)/100)
			if proposed = int32(share); direction > 0 {
				proposed = ceil(share)
			}
		}
		farther := (proposed > result) == (direction > 0)
		if i == 0 || farther == (selected == autoscalingv2.MaxChangePolicySelect) {
			result = proposed
		}
	}
	return result
}
