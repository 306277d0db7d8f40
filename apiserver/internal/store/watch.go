package store

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Change is one key's change as etcd tells it.
type Change struct {
	KV
	Deleted  bool
	Created  bool
	Previous []byte // the value before; only when asked for, and absent for a creation
}

// Watch calls f with every change of keys with the prefix after revision, in order; a call holds all
// changes of one or more whole revisions and the last of these, and is also made with none when only
// the revision is known to have advanced. It returns when ctx ends, f fails, or etcd can't go on: ErrCompacted when the
// revision is gone.
func (s *Store) Watch(ctx context.Context, prefix string, revision int64, previous bool, f func(seen int64, changes []Change) error) error {
	opts := []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(revision + 1), clientv3.WithProgressNotify()}
	if previous {
		opts = append(opts, clientv3.WithPrevKV())
	}
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for r := range s.client.Watch(ctx, prefix, opts...) {
		if err := r.Err(); err != nil {
			if errors.Is(err, rpctypes.ErrCompacted) {
				return ErrCompacted
			}
			return fmt.Errorf("watch %s: %w", prefix, err)
		}
		// A response's header tells the store's revision, not how far the events go: etcd sends a backlog in parts.
		seen := r.Header.Revision
		if n := len(r.Events); n > 0 {
			seen = r.Events[n-1].Kv.ModRevision
		}
		if err := f(seen, changes(r.Events)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func changes(events []*clientv3.Event) []Change {
	out := make([]Change, len(events))
	for i, e := range events {
		out[i] = Change{
			KV:      KV{Key: string(e.Kv.Key), Value: e.Kv.Value, Revision: e.Kv.ModRevision},
			Deleted: e.Type == mvccpb.Event_DELETE,
			Created: e.IsCreate(),
		}
		if e.PrevKv != nil {
			out[i].Previous = e.PrevKv.Value
		}
	}
	return out
}

// RequestProgress asks etcd to tell the watches their revision, so that a read may go on although nothing changes.
func (s *Store) RequestProgress(ctx context.Context) error { return s.client.RequestProgress(ctx) }
