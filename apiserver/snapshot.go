package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// Snapshot is all objects of a server at one revision. It never changes, and any number of servers can begin with it at once: those
// in memory share its bytes and what was made of them.
type Snapshot struct{ held *store.Image }

// Revision is the resource version at which it was taken.
func (s *Snapshot) Revision() int64 { return s.held.Revision }

// Len is the number of keys, a few of which hold no objects.
func (s *Snapshot) Len() int { return s.held.Len() }

// WriteTo writes the snapshot in a form that ReadSnapshot reads.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) { return s.held.WriteTo(w) }

// ReadSnapshot reads what WriteTo wrote.
func ReadSnapshot(r io.Reader) (*Snapshot, error) {
	image, err := store.ReadImage(r)
	if err != nil {
		return nil, fmt.Errorf("read a snapshot: %w", err)
	}
	return &Snapshot{image}, nil
}

// openStore opens the store with what it is to begin with.
func openStore(ctx context.Context, o Options) (*store.Store, error) {
	var from *store.Image
	if o.From != nil {
		from = o.From.held
	}
	st, err := store.Open(ctx, store.Options{Memory: o.Memory, From: from, Clock: o.Clock,
		Dir: o.DataDir, UnsafeNoFsync: o.UnsafeNoFsync, Endpoints: o.EtcdServers, TLS: o.EtcdTLS, Logger: o.Logger})
	if err != nil || from == nil || o.Memory {
		return st, err
	}
	if err := st.Replace(ctx, from); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// Snapshot takes all objects as they are now, with every write acknowledged before.
func (s *Server) Snapshot(ctx context.Context) (*Snapshot, error) {
	image, err := s.store.Image(ctx)
	if err != nil {
		return nil, err
	}
	s.cache.Lend(image)
	return &Snapshot{image}, nil
}

// Restore makes all objects those of the snapshot, with their UIDs, at a new resource version: watches see the difference, or end.
// Objects that did not change since stay as they are. It returns once reads see it.
func (s *Server) Restore(ctx context.Context, to *Snapshot) error {
	if err := s.store.Replace(ctx, to.held); err != nil {
		return err
	}
	return s.cache.Fresh(ctx)
}

// CutStore has the server work as if its store were gone, or come back.
func (s *Server) CutStore(gone bool) { s.store.Cut(gone) }
