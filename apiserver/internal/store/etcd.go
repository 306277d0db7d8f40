package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
)

// etcd is an engine: an embedded member, or an external cluster.
type etcd struct {
	client *clientv3.Client
	member *embed.Etcd // nil with an external cluster
	// watcher makes a watcher with streams of its own; it is to be closed.
	watcher func() clientv3.Watcher

	// committed is the highest revision that a write through this engine returned. With an embedded
	// member, which has no other writer, no revision above it exists that anyone was told of.
	committed atomic.Int64

	// gate is held by writers, so that nothing is written while everything is replaced.
	gate sync.RWMutex
}

// openEtcd starts the embedded member, or connects to the external cluster and waits until it answers or ctx ends.
func openEtcd(ctx context.Context, o Options) (*etcd, error) {
	s := &etcd{}
	if len(o.Endpoints) == 0 {
		member, client, err := embedded(ctx, o)
		if err != nil {
			return nil, err
		}
		s.member, s.client = member, client
		watches := adapter.WatchServerToWatchClient(v3rpc.NewWatchServer(member.Server))
		s.watcher = func() clientv3.Watcher { return clientv3.NewWatchFromWatchClient(watches, client) }
	} else {
		client, err := clientv3.New(clientv3.Config{
			Endpoints: o.Endpoints, TLS: o.TLS, DialTimeout: 20 * time.Second, Logger: zapTo(o.Logger),
			DialKeepAliveTime: 30 * time.Second, DialKeepAliveTimeout: 10 * time.Second,
		})
		if err != nil {
			return nil, fmt.Errorf("etcd client: %w", err)
		}
		s.client = client
		s.watcher = func() clientv3.Watcher { return clientv3.NewWatcher(client) }
	}
	if err := s.readRevision(ctx, o.Logger); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// readRevision waits, with growing pauses and a word in the log, until etcd tells its revision.
func (s *etcd) readRevision(ctx context.Context, log *slog.Logger) error {
	pause := 100 * time.Millisecond
	for {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		rev, err := s.readLatest(try)
		cancel()
		if err == nil {
			s.committed.Store(rev)
			return nil
		}
		log.Warn("waiting for etcd", "error", err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("etcd: %w", errors.Join(ctx.Err(), err))
		case <-time.After(pause):
		}
		pause = min(2*pause, 5*time.Second)
	}
}

func (s *etcd) readLatest(ctx context.Context) (int64, error) {
	r, err := s.client.Get(ctx, Prefix, clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return r.Header.Revision, nil
}

// Embedded says whether this process holds the only member, so that nobody else writes.
func (s *etcd) Embedded() bool { return s.member != nil }

// Latest returns a revision at or above every write acknowledged before the call. With an embedded
// member it is a counter; with an external cluster a linearizable read.
func (s *etcd) Latest(ctx context.Context) (int64, error) {
	if s.Embedded() {
		return s.committed.Load(), nil
	}
	return s.readLatest(ctx)
}

// Healthy returns an error when etcd does not answer a linearizable read.
func (s *etcd) Healthy(ctx context.Context) error {
	_, err := s.readLatest(ctx)
	return err
}

// Close ends the connection and the embedded member. Requests under way fail.
func (s *etcd) Close() error {
	err := s.client.Close()
	if s.member != nil {
		s.member.Close()
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *etcd) observe(rev int64) {
	for {
		seen := s.committed.Load()
		if rev <= seen || s.committed.CompareAndSwap(seen, rev) {
			return
		}
	}
}
