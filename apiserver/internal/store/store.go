package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"k8s.io/utils/clock"
)

// Prefix is the first part of every key, as a genuine API server's default --etcd-prefix.
const Prefix = "/registry/"

// Options say where the data is.
type Options struct {
	// Memory keeps everything in this process, and nothing after its end; what says where etcd is is ignored then.
	Memory bool
	// From is what a store in memory holds from the beginning, at the same revisions; nil: nothing.
	From *Image
	// Clock ends the life of keys in memory; nil: real time. Those in etcd end by etcd's own clock.
	Clock clock.WithTicker
	// Dir is the folder of the embedded member. Ignored when Endpoints are given.
	Dir string
	// UnsafeNoFsync turns fsync off in the embedded member: faster, and a crash of the machine loses data.
	UnsafeNoFsync bool
	// Endpoints of an external etcd cluster. Empty: a member is embedded.
	Endpoints []string
	// TLS for the external cluster; nil for plain text.
	TLS *tls.Config
	// Logger takes what etcd warns of.
	Logger *slog.Logger
}

// KV is one key as stored.
type KV struct {
	Key      string
	Value    []byte
	Revision int64 // the key's modification revision
	// Made keeps what a reader made of the value, for whoever reads it next; nil: this store keeps nothing of the kind.
	Made *Made
}

// Made is a place for one thing that was made of a value at its revision.
type Made struct{ atomic.Value }

// Store is an open store. Safe for concurrent use.
type Store struct {
	engine
	gone atomic.Bool
}

// Open opens the store: it starts the embedded member, or connects to the external cluster and waits until it answers or ctx ends.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Memory {
		return &Store{engine: openMemory(o)}, nil
	}
	e, err := openEtcd(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Store{engine: e}, nil
}

// Errors of the writes.
var (
	// ErrExists: Create found the key.
	ErrExists = errors.New("key exists")
	// ErrNotFound: Update or Delete found no key.
	ErrNotFound = errors.New("key not found")
	// ErrCompacted: the revision asked for is no longer kept.
	ErrCompacted = errors.New("revision compacted")
	// ErrFuture: the revision asked for does not exist yet.
	ErrFuture = errors.New("revision in the future")
)

// ConflictError says that the key's revision was not the one expected.
type ConflictError struct{ Current KV }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("key %s is at revision %d", e.Current.Key, e.Current.Revision)
}
