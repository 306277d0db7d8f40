package scheduler

import "testing"

// The numbers of upstream's adaptive share of nodes to look at.
func TestEnoughNodes(t *testing.T) {
	t.Parallel()
	for all, want := range map[int]int{1: 1, 99: 99, 100: 100, 200: 100, 1000: 420, 5000: 500, 6000: 300} {
		if got := enoughNodes(all, 0); got != want {
			t.Errorf("of %d nodes %d are enough, want %d", all, got, want)
		}
	}
	for percent, want := range map[int]int{1: 100, 30: 300, 100: 1000} {
		if got := enoughNodes(1000, percent); got != want {
			t.Errorf("of 1000 nodes %d %% are %d, want %d", percent, got, want)
		}
	}
}

func TestBestIsTheFirstOfEquals(t *testing.T) {
	t.Parallel()
	if got := best([]int64{3, 7, 7, 1}); got != 1 {
		t.Errorf("got %d", got)
	}
}

func TestLongNotesAreCut(t *testing.T) {
	t.Parallel()
	long := make([]byte, 3000)
	for i := range long {
		long[i] = 'x'
	}
	if got := shortened(string(long)); len(got) != maxNote || got[maxNote-3:] != "..." {
		t.Errorf("%d bytes, ending in %q", len(got), got[maxNote-3:])
	}
}
