package store

import (
	"context"
	"time"
)

// engine is what keeps the keys: etcd, or this process's memory. Both pass the same tests.
type engine interface {
	// Create stores a new key and returns its revision, or ErrExists. A ttl above 0, in seconds, bounds its life.
	Create(ctx context.Context, key string, value []byte, ttl int64) (int64, error)
	// Update replaces the value of a key whose revision is expected, else it fails with *ConflictError
	// (carrying the present one) or ErrNotFound.
	Update(ctx context.Context, key string, value []byte, expected, ttl int64) (int64, error)
	// Delete removes a key whose revision is expected, failing as Update does.
	Delete(ctx context.Context, key string, expected int64) (int64, error)
	// Range reads keys in [from, end) in order: at most limit (0: all) at revision (0: the latest).
	// ErrCompacted and ErrFuture tell of revisions that can't be read.
	Range(ctx context.Context, from, end string, limit, revision int64) (Page, error)

	// Watch calls f with every change of keys with the prefix after revision, in order; a call holds all
	// changes of one or more whole revisions and the last of these, and is also made with none when only
	// the revision is known to have advanced. It returns when ctx ends, f fails, or the store can't go on: ErrCompacted
	// when the revision is gone, or a value before it that was asked for.
	Watch(ctx context.Context, prefix string, revision int64, previous bool, f func(seen int64, changes []Change) error) error
	// Replay is Watch with the values before, for changes that lie back: f learns soon how far it is, whatever changes.
	Replay(ctx context.Context, prefix string, revision int64, f func(seen int64, changes []Change) error) error
	// RequestProgress makes the watches tell their revision, so that a read may go on although nothing changes.
	RequestProgress(ctx context.Context) error

	// Embedded says whether this process holds the only member, so that nobody else writes.
	Embedded() bool
	// Latest returns a revision at or above every write acknowledged before the call.
	Latest(ctx context.Context) (int64, error)
	// Healthy returns an error when the store does not answer a read.
	Healthy(ctx context.Context) error

	// Compact forgets what was before revision. A revision already forgotten is no error.
	Compact(ctx context.Context, revision int64) error
	// CompactEvery forgets, at each interval, the revisions older than the interval before. It returns
	// when ctx ends; a failed round is told to report and tried again at the next.
	CompactEvery(ctx context.Context, interval time.Duration, report func(error))

	// Image is everything that is stored, at one revision.
	Image(ctx context.Context) (*Image, error)
	// Replace makes the store hold what the image holds and nothing else, at a new revision: keys whose values are the same stay
	// untouched. No write falls in between. In memory and in an embedded member it is one revision.
	Replace(ctx context.Context, image *Image) error

	// Close ends the store. Requests under way fail.
	Close() error
}
