package nodettl

import "testing"

func TestSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ nodes, before, want int }{
		{1, 0, 0}, {100, 0, 0}, {101, 0, 15}, {95, 15, 15}, {89, 15, 0}, {95, 0, 0}, {5000, 0, 300}, {1900, 300, 300}, {3, 300, 0}, {3, 77, 0},
	} {
		if got := Seconds(c.nodes, c.before); got != c.want {
			t.Errorf("%d nodes after %d s: %d s", c.nodes, c.before, got)
		}
	}
}
