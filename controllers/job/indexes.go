package job

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// span is a run of indexes, both ends included.
type span struct{ first, last int }

// Indexes is a set of completion indexes, as runs in ascending order that neither overlap
// nor touch.
type Indexes []span

// ParseIndexes reads the form in which statuses and success policies write a set:
// "0,2-4,7". Indexes from completions on are left out, as are runs that are no numbers.
func ParseIndexes(text string, completions int) Indexes {
	var set Indexes
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		if first >= completions {
			break
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
			last = min(last, completions-1)
		}
		set = append(set, span{first, last})
	}
	return normal(set)
}

// indexSet is the set of the given indexes.
func indexSet(indexes ...int) Indexes {
	set := make(Indexes, 0, len(indexes))
	for _, index := range indexes {
		set = append(set, span{index, index})
	}
	return normal(set)
}

// normal sorts runs and joins those that overlap or touch. It keeps what it is given.
func normal(runs Indexes) Indexes {
	slices.SortFunc(runs, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	var joined Indexes
	for _, run := range runs {
		if n := len(joined); n > 0 && run.first <= joined[n-1].last+1 {
			joined[n-1].last = max(joined[n-1].last, run.last)
			continue
		}
		joined = append(joined, run)
	}
	return joined
}

// Union is the set of what is in either.
func (s Indexes) Union(other Indexes) Indexes { return normal(slices.Concat(s, other)) }

// Len is how many indexes are in the set.
func (s Indexes) Len() (count int) {
	for _, run := range s {
		count += run.last - run.first + 1
	}
	return count
}

// Has says whether an index is in the set.
func (s Indexes) Has(index int) bool {
	at, found := slices.BinarySearchFunc(s, index, func(run span, index int) int { return cmp.Compare(run.last, index) })
	return found || at < len(s) && s[at].first <= index
}

// Common is how many indexes are in both sets.
func (s Indexes) Common(other Indexes) (count int) {
	for i, j := 0, 0; i < len(s) && j < len(other); {
		count += max(0, min(s[i].last, other[j].last)-max(s[i].first, other[j].first)+1)
		if s[i].last < other[j].last {
			i++
		} else {
			j++
		}
	}
	return count
}

// FirstMissing gives the first count indexes below completions that are not in the set.
func (s Indexes) FirstMissing(count, completions int) []int {
	var missing []int
	next := 0
	take := func(until int) {
		for ; next < min(until, completions) && len(missing) < count; next++ {
			missing = append(missing, next)
		}
	}
	for _, run := range s {
		take(run.first)
		next = max(next, run.last+1)
	}
	take(completions)
	return missing
}

// String is the form that ParseIndexes reads; a run of two is written as two.
func (s Indexes) String() string {
	parts := make([]string, 0, len(s))
	for _, run := range s {
		text := strconv.Itoa(run.first)
		switch run.last - run.first {
		case 0:
		case 1:
			text += "," + strconv.Itoa(run.last)
		default:
			text += "-" + strconv.Itoa(run.last)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}
