package store

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Create stores a new key and returns its revision. A ttl above 0, in seconds, puts it under a lease.
func (s *etcd) Create(ctx context.Context, key string, value []byte, ttl int64) (int64, error) {
	put, err := s.put(ctx, key, value, ttl)
	if err != nil {
		return 0, err
	}
	s.gate.RLock()
	defer s.gate.RUnlock()
	r, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).Then(put).Commit()
	if err != nil {
		return 0, fmt.Errorf("create %s: %w", key, err)
	}
	if !r.Succeeded {
		return 0, ErrExists
	}
	s.observe(r.Header.Revision)
	return r.Header.Revision, nil
}

// Update replaces the value of a key whose revision is expected, else it fails with *ConflictError
// (carrying the present one) or ErrNotFound.
func (s *etcd) Update(ctx context.Context, key string, value []byte, expected, ttl int64) (int64, error) {
	put, err := s.put(ctx, key, value, ttl)
	if err != nil {
		return 0, err
	}
	return s.swap(ctx, key, expected, put)
}

// Delete removes a key whose revision is expected, failing as Update does.
func (s *etcd) Delete(ctx context.Context, key string, expected int64) (int64, error) {
	return s.swap(ctx, key, expected, clientv3.OpDelete(key))
}

func (s *etcd) swap(ctx context.Context, key string, expected int64, op clientv3.Op) (int64, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	r, err := s.client.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", expected)).
		Then(op).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", key, err)
	}
	if r.Succeeded {
		s.observe(r.Header.Revision)
		return r.Header.Revision, nil
	}
	kvs := r.Responses[0].GetResponseRange().Kvs
	if len(kvs) == 0 {
		return 0, ErrNotFound
	}
	return 0, &ConflictError{Current: KV{Key: key, Value: kvs[0].Value, Revision: kvs[0].ModRevision}}
}

func (s *etcd) put(ctx context.Context, key string, value []byte, ttl int64) (clientv3.Op, error) {
	if ttl <= 0 {
		return clientv3.OpPut(key, string(value)), nil
	}
	lease, err := s.client.Grant(ctx, ttl)
	if err != nil {
		return clientv3.Op{}, fmt.Errorf("lease for %s: %w", key, err)
	}
	return clientv3.OpPut(key, string(value), clientv3.WithLease(lease.ID)), nil
}

// Page is what one Range call found.
type Page struct {
	Items    []KV
	Revision int64 // of the store when read, or the one asked for
	More     int64 // keys in the range after the last item
}

// Range reads keys in [from, end) in order: at most limit (0: all) at revision (0: the latest).
// ErrCompacted and ErrFuture tell of revisions that can't be read.
func (s *etcd) Range(ctx context.Context, from, end string, limit, revision int64) (Page, error) {
	opts := []clientv3.OpOption{clientv3.WithRange(end), clientv3.WithLimit(limit)}
	if revision > 0 {
		opts = append(opts, clientv3.WithRev(revision))
	}
	r, err := s.client.Get(ctx, from, opts...)
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		return Page{}, ErrCompacted
	case errors.Is(err, rpctypes.ErrFutureRev):
		return Page{}, ErrFuture
	case err != nil:
		return Page{}, fmt.Errorf("range %s: %w", from, err)
	}
	p := Page{Revision: r.Header.Revision, Items: make([]KV, len(r.Kvs)), More: r.Count - int64(len(r.Kvs))}
	if revision > 0 {
		p.Revision = revision
	}
	for i, kv := range r.Kvs {
		p.Items[i] = KV{Key: string(kv.Key), Value: kv.Value, Revision: kv.ModRevision}
	}
	return p, nil
}

// PrefixEnd returns the first key after all keys that begin with prefix.
func PrefixEnd(prefix string) string { return clientv3.GetPrefixRangeEnd(prefix) }
