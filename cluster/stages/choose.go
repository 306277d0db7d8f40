package stages

import "strconv"

// weight is how often a stage is chosen among those that match; known is false when the object's own word for it can't be read.
type weight struct {
	value int64
	known bool
}

// weightOf reads the object's word, and counts what is usual when it has none.
func weightOf(usual int64, from expression) func(object) weight {
	return func(o object) weight {
		if from == nil {
			return weight{usual, true}
		}
		switch v := from(o).(type) {
		case string:
			n, err := strconv.ParseInt(v, 0, 64)
			return weight{n, err == nil && n >= 0}
		case int:
			return weight{int64(v), v >= 0}
		case int64:
			return weight{v, v >= 0}
		case float64:
			return weight{int64(v), v >= 0}
		}
		return weight{usual, true}
	}
}

// choose picks one of some weights by chance, which is a number from 0 to below n. Those above 0 are picked in proportion; if there are
// none, all of known weight alike, and if there are none of these, all.
//
//	1, 3, 0 → the first in one of four cases, the second in three, the third never
func choose(weights []weight, chance func(n int64) int64) int {
	if len(weights) == 1 {
		return 0
	}
	var total int64
	var known, all []int
	for i, w := range weights {
		all = append(all, i)
		if w.known {
			known = append(known, i)
			total += w.value
		}
	}
	if total == 0 {
		if len(known) == 0 {
			known = all
		}
		return known[chance(int64(len(known)))]
	}
	left := chance(total)
	for _, i := range known {
		if left -= weights[i].value; left < 0 {
			return i
		}
	}
	return known[len(known)-1]
}

// judge gives the stage that is next for an object, or nil.
func judge(stages []*stage, o object, chance func(n int64) int64) *stage {
	var match []*stage
	for _, s := range stages {
		if s.matches(o) {
			match = append(match, s)
		}
	}
	switch len(match) {
	case 0:
		return nil
	case 1:
		return match[0]
	}
	weights := make([]weight, len(match))
	for i, s := range match {
		weights[i] = s.weight(o)
	}
	return match[choose(weights, chance)]
}
