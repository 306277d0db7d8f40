package cluster_test

import (
	"testing"

	"github.com/kogge-dev/kogge/cluster"
)

// TestStopAtOnce: who stops a cluster that has hardly begun learns of no error.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		c, err := cluster.Start(t.Context(), cluster.Options{Nodes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}
}
