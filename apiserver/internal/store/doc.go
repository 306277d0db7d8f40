// Package store keeps objects in etcd: an embedded member spoken to in process, or an external cluster.
//
// It knows keys, bytes and revisions, nothing of kinds. Every write is one transaction that
// compares the key's modification revision, so two writers of one key never overwrite each other
// unseen. A write that returned without an error is durable (fsync is on unless asked otherwise).
//
//	s, err := store.Open(ctx, store.Options{Dir: dir})
//	rev, err := s.Create(ctx, "/registry/configmaps/default/a", value, 0)
//	rev, err = s.Update(ctx, "/registry/configmaps/default/a", newer, rev, 0)
//
// Reads are served by the watch cache on top (package cache).
//
// Next: apiserver/internal/store/cache
package store
