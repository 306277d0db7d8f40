package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

	before *record // the key before, in memory
}

// Watch calls f with every change of keys with the prefix after revision, in order; a call holds all
// changes of one or more whole revisions and the last of these, and is also made with none when only
// the revision is known to have advanced. It returns when ctx ends, f fails, or etcd can't go on: ErrCompacted when the
// revision is gone, or a value before it that was asked for: at the very revision of a compaction etcd still tells of a change, but
// not of what was there before.
func (s *etcd) Watch(ctx context.Context, prefix string, revision int64, previous bool, f func(seen int64, changes []Change) error) error {
	return follow(ctx, s.client, prefix, revision, previous, f)
}

// Replay is Watch with the values before, for changes that lie back: etcd is asked until the end how far it is, since of keys in
// which nothing changed it tells nothing else. It has a stream of its own: etcd is silent on one with a watch that waits for its
// first change, as that of everything does after a start.
func (s *etcd) Replay(ctx context.Context, prefix string, revision int64, f func(seen int64, changes []Change) error) error {
	watcher := s.watcher()
	defer watcher.Close()
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan error, 1)
	go func() { asked <- askProgress(ctx, watcher) }()
	err := follow(ctx, watcher, prefix, revision, true, f)
	cancel()
	return errors.Join(err, <-asked)
}

// progressInterval is how often a replay asks.
const progressInterval = 20 * time.Millisecond

// askProgress asks until ctx ends.
func askProgress(ctx context.Context, watcher clientv3.Watcher) error {
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := watcher.RequestProgress(stream(ctx)); err != nil && ctx.Err() == nil {
			return fmt.Errorf("progress of a watch: %w", err)
		}
	}
}

func follow(ctx context.Context, watcher clientv3.Watcher, prefix string, revision int64, previous bool, f func(seen int64, changes []Change) error) error {
	opts := []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithRev(revision + 1), clientv3.WithProgressNotify()}
	if previous {
		opts = append(opts, clientv3.WithPrevKV())
	}
	ctx, cancel := context.WithCancel(stream(ctx))
	defer cancel()
	for r := range watcher.Watch(ctx, prefix, opts...) {
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
		if previous && lacksPrevious(r.Events) {
			return ErrCompacted
		}
		if err := f(seen, changes(r.Events)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// lacksPrevious says whether the value before one of the changes is compacted.
func lacksPrevious(events []*clientv3.Event) bool {
	return slices.ContainsFunc(events, func(e *clientv3.Event) bool { return !e.IsCreate() && e.PrevKv == nil })
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

// RequestProgress asks etcd to tell the watches their revision, so that a read may go on although nothing changes. It does not
// while one of them is behind.
func (s *etcd) RequestProgress(ctx context.Context) error {
	return s.client.RequestProgress(stream(ctx))
}

// stream is what tells etcd's client which stream is meant: a request for progress must have the watches' metadata.
func stream(ctx context.Context) context.Context { return clientv3.WithRequireLeader(ctx) }
