package cluster

import (
	"context"
	"errors"
	"io"

	"github.com/kogge-dev/kogge/apiserver"
)

// Snapshot is all objects of a cluster at one moment. It never changes, and any number of clusters can begin with it, at once too.
// WriteTo writes it to a file.
type Snapshot = apiserver.Snapshot

// ReadSnapshot reads what Snapshot.WriteTo wrote.
func ReadSnapshot(r io.Reader) (*Snapshot, error) { return apiserver.ReadSnapshot(r) }

// Snapshot takes all objects as they are now. The cluster goes on meanwhile.
func (c *Cluster) Snapshot(ctx context.Context) (*Snapshot, error) { return c.server.Snapshot(ctx) }

// Restore makes all objects those of the snapshot, with the UIDs that they had. What is as it was stays untouched; the rest changes at
// one new resource version, so that watches see the difference or end, and informers follow. Controllers that decided on what was
// before may still write, and then find out.
func (c *Cluster) Restore(ctx context.Context, to *Snapshot) error {
	if to == nil {
		return errors.New("restore: no snapshot is given")
	}
	return c.server.Restore(ctx, to)
}

// Fork starts another cluster, which has the objects that this one has now: UIDs and resource versions too. In memory the two share
// what did not change since, and neither sees what becomes of the other. The fork has keys of its own, so tokens and certificates of
// this cluster don't hold there; simulated nodes run if the options say so, under the same names. Options.From is ignored.
func (c *Cluster) Fork(ctx context.Context, o Options) (*Cluster, error) {
	now, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	o.From = now
	return Start(ctx, o)
}
