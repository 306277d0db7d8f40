package store

import (
	"context"
	"fmt"
	"log/slog"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// embedded starts a single member without any listener and returns once it leads.
func embedded(ctx context.Context, o Options) (*embed.Etcd, *clientv3.Client, error) {
	c := embed.NewConfig()
	c.Name, c.Dir = "kogge", o.Dir
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.ListenClientUrls, c.ListenPeerUrls = nil, nil
	c.UnsafeNoFsync = o.UnsafeNoFsync
	// A single member elects itself: short ticks make it lead at once, and cost CPU while idle (10 ms: 2.4 % of a core, 20 ms: 1.8 %).
	c.TickMs, c.ElectionMs = 20, 100
	if o.UnsafeNoFsync {
		c.TickMs, c.ElectionMs = 10, 50 // it won't live long: to be there soon counts for more
	}
	// Raft entries are kept in memory until a snapshot; with one member nobody needs to catch up.
	c.SnapshotCount, c.SnapshotCatchUpEntries = 2000, 100
	// Objects may be 1.5 MiB for etcd's default, and the API server accepts 3 MiB bodies. All objects at once are more: see Replace.
	c.MaxRequestBytes, c.MaxTxnOps = 1<<30, 1<<24
	c.QuotaBackendBytes = 8 << 30
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapTo(o.Logger))
	e, err := embed.StartEtcd(c)
	if err != nil {
		return nil, nil, fmt.Errorf("embedded etcd in %s: %w", o.Dir, err)
	}
	select {
	case <-e.Server.ReadyNotify():
	case err := <-e.Err():
		e.Close()
		return nil, nil, fmt.Errorf("embedded etcd in %s: %w", o.Dir, err)
	case <-ctx.Done():
		e.Close()
		return nil, nil, ctx.Err()
	}
	return e, v3client.New(e.Server), nil
}

// zapTo makes the logger that etcd wants out of ours; only warnings and worse pass.
func zapTo(log *slog.Logger) *zap.Logger {
	if log == nil {
		return zap.NewNop()
	}
	return zap.New(&zapCore{log: log})
}

type zapCore struct {
	log    *slog.Logger
	fields []zapcore.Field
}

func (c *zapCore) Enabled(l zapcore.Level) bool { return l >= zapcore.WarnLevel }

func (c *zapCore) With(f []zapcore.Field) zapcore.Core {
	return &zapCore{log: c.log, fields: append(c.fields[:len(c.fields):len(c.fields)], f...)}
}

func (c *zapCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

func (c *zapCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range append(c.fields[:len(c.fields):len(c.fields)], fields...) {
		f.AddTo(enc)
	}
	// etcd warns of much that is normal for a member of one.
	level := slog.LevelDebug
	if e.Level > zapcore.ErrorLevel {
		level = slog.LevelError
	}
	c.log.Log(context.Background(), level, "etcd: "+e.Message, "fields", enc.Fields)
	return nil
}

func (c *zapCore) Sync() error { return nil }
