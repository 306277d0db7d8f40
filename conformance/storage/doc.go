// Package storage runs the suites that k8s.io/apiserver exports for its storage (pkg/storage/testing) against our store and our cache.
//
// It is a module of its own, so that the packages behind these suites stay out of ours; its path lies below
// apiserver, whose internal packages it may import for that. An adapter gives both the interface that the suites ask for. It holds
// no state: writes are the store's transactions on a key's revision, as the registry makes them; reads are those of the store,
// or those of the registry on the cache, of which clients get their lists and watches.
//
// All suites run on the store, and on the cache those which upstream runs on its own cache. Of these a few ask for something
// that is none of a store's duties here; the adapter does it, so they show that the rest around it holds:
//
//   - Suites with a transformer or a codec that fails: our values aren't encrypted; what can't be read is told as the registry tells it.
//     A list from the store collects what can't be read by the adapter's loop (GetListWithErrorAggregation), into the registry's error; a
//     watch from the store tells of the unsafe deletion in the adapter's words (WatchWithUnsafeDelete): our cache ends its watchers then.
//   - Stats with sizes: nobody asks the store for them.
//   - CompactRevision: the store keeps no account of what it compacted; the error of a read of it is ours.
package storage
