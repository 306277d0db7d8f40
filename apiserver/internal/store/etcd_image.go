package store

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// leasedTTL, in seconds, is what a key is given to live whose lease an image can't tell: that of events.
	leasedTTL = 3600
	// foreignOps is how many changes of one transaction an external cluster takes by default.
	foreignOps = 128
)

// Image is everything that is stored, at one revision.
func (s *etcd) Image(ctx context.Context) (*Image, error) {
	r, err := s.client.Get(ctx, Prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("read everything: %w", err)
	}
	image := newImage()
	image.Revision = r.Header.Revision
	for _, kv := range r.Kvs {
		ttl := int64(0)
		if kv.Lease != 0 {
			ttl = leasedTTL
		}
		record := newRecord(string(kv.Key), kv.Value, kv.ModRevision, ttl)
		image.tree.Load(record.Key, record)
	}
	return image, nil
}

// Replace makes the store hold what the image holds.
func (s *etcd) Replace(ctx context.Context, image *Image) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	have, err := s.Image(ctx)
	if err != nil {
		return err
	}
	edits := difference(have.tree, image.copied())
	ops := make([]clientv3.Op, 0, len(edits))
	var lease []clientv3.OpOption
	for _, e := range edits {
		switch {
		case e.want == nil:
			ops = append(ops, clientv3.OpDelete(e.key))
		case e.want.ttl == 0:
			ops = append(ops, clientv3.OpPut(e.key, string(e.want.Value)))
		default:
			if lease == nil {
				granted, err := s.client.Grant(ctx, leasedTTL)
				if err != nil {
					return fmt.Errorf("a lease for what is replaced: %w", err)
				}
				lease = []clientv3.OpOption{clientv3.WithLease(granted.ID)}
			}
			ops = append(ops, clientv3.OpPut(e.key, string(e.want.Value), lease...))
		}
	}
	return s.commit(ctx, ops)
}

// commit makes the changes, at once if there is only this member.
func (s *etcd) commit(ctx context.Context, ops []clientv3.Op) error {
	for len(ops) > 0 {
		n := len(ops)
		if !s.Embedded() {
			n = min(n, foreignOps)
		}
		r, err := s.client.Txn(ctx).Then(ops[:n]...).Commit()
		if err != nil {
			return fmt.Errorf("replace everything: %w", err)
		}
		if !r.Succeeded {
			return errors.New("replace everything: refused")
		}
		s.observe(r.Header.Revision)
		ops = ops[n:]
	}
	return nil
}
