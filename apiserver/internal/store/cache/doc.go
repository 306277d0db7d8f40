// Package cache keeps every object in memory, in the bytes that are sent, and serves all reads.
//
// One etcd watch over the whole prefix feeds all collections, so "the revision seen" is a single
// number and a fresh read of a quiet collection does not wait for anything. Only that watch changes
// a collection; a writer merely parks the entry it made, where the event of its revision finds it
// (and so need not decode it again).
//
// Promises: a read after Fresh reflects every write acknowledged before it; a snapshot is whole
// revisions, never half of one; a watcher gets each change after its revision once, in order, or is
// ended; nobody holds a lock while it reads a snapshot.
//
//	c := cache.New(cache.Options{Store: s, Codecs: codecs})
//	go c.Run(ctx)
//	err := c.Fresh(ctx)
//	snapshot := c.Collection("/registry/pods/").Snapshot()
//	w, err := c.Collection("/registry/pods/").Watch(ctx, snapshot.Revision, cache.Filter{})
//
// Next: apiserver/handlers
package cache
