package stages

import (
	"fmt"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	known := func(values ...int64) (all []weight) {
		for _, v := range values {
			all = append(all, weight{v, v >= 0})
		}
		return all
	}
	for _, c := range []struct {
		weights []weight // below 0: unknown
		chances int64    // what chance is asked for
		want    []int    // for each
	}{
		{known(5), 0, []int{0}},
		{known(1, 3), 4, []int{0, 1, 1, 1}},
		{known(0, 2, 0), 2, []int{1, 1}},
		{known(0, 0), 2, []int{0, 1}},
		{known(-1, 0, 0), 2, []int{1, 2}},
		{known(-1, -1), 2, []int{0, 1}},
		{known(-1, 2), 2, []int{1, 1}},
	} {
		for i, want := range c.want {
			got := choose(c.weights, func(n int64) int64 {
				if n != c.chances {
					t.Errorf("%v: chance of %d, want %d", c.weights, n, c.chances)
				}
				return int64(i)
			})
			if got != want {
				t.Errorf("%v, chance %d: %d, want %d", c.weights, i, got, want)
			}
		}
	}
}

func TestWeights(t *testing.T) {
	t.Parallel()
	for annotation, want := range map[string]weight{
		"": {0, false}, "12": {12, true}, "0x10": {16, true}, "much": {0, false}, "-1": {-1, false}, "absent": {3, true},
	} {
		o := object{"metadata": map[string]any{"annotations": map[string]any{"w": annotation}}}
		if annotation == "absent" {
			o = object{}
		}
		s := stageOf(t, "resourceRef: {kind: Pod}\nselector: {}\nweight: 3\nweightFrom: {expressionFrom: .metadata.annotations.w}")
		if got := s.weight(o); got != want {
			t.Errorf("%q: %v, want %v", annotation, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	all := []*stage{
		stageOf(t, "resourceRef: {kind: Pod}\nselector: {matchLabels: {a: b}}\nweight: 1"),
		stageOf(t, "resourceRef: {kind: Pod}\nselector: {}\nweight: 1"),
	}
	for i, s := range all {
		s.name = fmt.Sprint(i)
	}
	labelled := object{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}
	first := func(int64) int64 { return 0 }
	if got := judge(all, labelled, first); got.name != "0" {
		t.Errorf("both match, the first is chosen: %s", got.name)
	}
	if got := judge(all, object{}, first); got.name != "1" {
		t.Errorf("one matches: %s", got.name)
	}
	if got := judge(all[:1], object{}, first); got != nil {
		t.Errorf("none matches: %s", got.name)
	}
}
