package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// compactKey tells the API servers of one etcd apart: whoever raises its version next compacts. It is
// the key, and the protocol, of a genuine API server.
const compactKey = "compact_rev_key"

// CompactEvery forgets, at each interval, the revisions older than the interval before. It returns
// when ctx ends; a failed round is told to report and tried again at the next.
func (s *etcd) CompactEvery(ctx context.Context, interval time.Duration, report func(error)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var version, revision int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		v, r, err := s.compact(ctx, version, revision)
		if err != nil {
			report(err)
			continue
		}
		version, revision = v, r
	}
}

// compact makes one round: if nobody raised the key's version meanwhile, it compacts to revision.
// It returns the key's version and the store's revision for the next round.
func (s *etcd) compact(ctx context.Context, version, revision int64) (int64, int64, error) {
	r, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.Version(compactKey), "=", version)).
		Then(clientv3.OpPut(compactKey, strconv.FormatInt(revision, 10))).
		Else(clientv3.OpGet(compactKey)).Commit()
	if err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	if !r.Succeeded {
		kvs := r.Responses[0].GetResponseRange().Kvs
		if len(kvs) == 0 {
			return 0, r.Header.Revision, nil
		}
		return kvs[0].Version, r.Header.Revision, nil
	}
	next := r.Header.Revision
	if revision == 0 {
		return version + 1, next, nil
	}
	return version + 1, next, s.Compact(ctx, revision)
}

// Compact forgets what was before revision. A revision already forgotten is no error.
func (s *etcd) Compact(ctx context.Context, revision int64) error {
	_, err := s.client.Compact(ctx, revision)
	if err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact to %d: %w", revision, err)
	}
	return nil
}
