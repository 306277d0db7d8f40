package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// interval is a run of indexes, both ends included.
type interval struct{ first, last int }

// parseInterval reads "5" or "3-7"; indexes are below completions.
func parseInterval(text string, completions int32) (interval, error) {
	parts := strings.Split(text, "-")
	if len(parts) > 2 {
		return interval{}, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	first, err := parseIndex(parts[0], completions)
	if err != nil {
		return interval{}, err
	}
	if len(parts) == 1 {
		return interval{first, first}, nil
	}
	last, err := parseIndex(parts[1], completions)
	if err != nil {
		return interval{}, err
	}
	if first >= last {
		return interval{}, fmt.Errorf("non-increasing order, previous: %d, current: %d", first, last)
	}
	return interval{first, last}, nil
}

func parseIndex(text string, completions int32) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	}
	if n >= int(completions) {
		return 0, fmt.Errorf("too large index: %q", text)
	}
	return n, nil
}

// countIndexes counts the indexes of a list such as "1,3-5,7", which must grow.
func countIndexes(list string, completions int32) (int32, error) {
	if list == "" {
		return 0, nil
	}
	total, previous := 0, -1
	for _, text := range strings.Split(list, ",") {
		i, err := parseInterval(text, completions)
		if err != nil {
			return 0, err
		}
		if previous >= i.first {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", previous, i.first)
		}
		total += i.last - i.first + 1
		previous = i.last
	}
	return int32(total), nil
}

// overlap finds the first index that two lists share; what cannot be read is passed over.
func overlap(a, b string, completions int32) (int, bool) {
	if a == "" || b == "" {
		return 0, false
	}
	for _, x := range strings.Split(a, ",") {
		i, err := parseInterval(x, completions)
		if err != nil {
			continue
		}
		for _, y := range strings.Split(b, ",") {
			if k, err := parseInterval(y, completions); err == nil && i.first <= k.last && k.first <= i.last {
				return max(i.first, k.first), true
			}
		}
	}
	return 0, false
}
