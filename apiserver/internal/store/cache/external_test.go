package cache_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

// etcd starts a member with a listener, as one of an external cluster has, and returns where.
func etcd(t *testing.T) string {
	t.Helper()
	c := embed.NewConfig()
	c.Dir, c.UnsafeNoFsync, c.ListenPeerUrls = t.TempDir(), true, nil
	c.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-t.Context().Done():
		t.Fatal("etcd is not ready")
	}
	return e.Clients[0].Addr().String()
}

// TestFreshOnAnExternalEtcd: what other servers write, also where no collection is, moves etcd's revision; a fresh read of what is
// quiet goes on all the same.
func TestFreshOnAnExternalEtcd(t *testing.T) {
	t.Parallel()
	address := etcd(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	connect := func() *store.Store {
		s, err := store.Open(t.Context(), store.Options{Endpoints: []string{address}, Logger: log})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	own, other := connect(), connect()
	c := cache.New(cache.Options{Store: own, Codecs: map[string]cache.Codec{prefix: codec{}}, Logger: log})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, own.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	})
	<-c.Ready()
	bounded, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for _, key := range []string{"/registry/elsewhere", "/outside", prefix + "n/a"} {
		raw, err := object("n", "a", "v").Marshal()
		if err != nil {
			t.Fatal(err)
		}
		revision, err := other.Create(bounded, key, raw, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Fresh(bounded); err != nil || c.Revision() < revision {
			t.Fatalf("after a write of %s at %d: at %d, %v", key, revision, c.Revision(), err)
		}
	}
	if c.Collection(prefix).Get(prefix+"n/a") == nil {
		t.Error("what the other wrote is not there")
	}
}
