package cache

import (
	"context"
	"errors"
	"fmt"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// replay reads from etcd the changes that memory no longer holds, as its reader takes them.
type replay struct {
	batches chan []*Event
	err     error // why it ended; set before batches is closed
	cancel  context.CancelFunc
}

var errReplayed = errors.New("replayed")

// replay begins to read the changes in (from, to]. It ends with ctx.
func (c *Collection) replay(ctx context.Context, from, to int64) *replay {
	ctx, cancel := context.WithCancel(ctx)
	r := &replay{batches: make(chan []*Event), cancel: cancel}
	go func() {
		defer close(r.batches)
		defer cancel()
		r.err = c.cache.store.Replay(ctx, c.prefix, from, func(seen int64, changes []store.Change) error {
			batch, err := c.replayed(changes, to)
			if err != nil {
				return err
			}
			select {
			case r.batches <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
			if seen >= to {
				return errReplayed
			}
			return nil
		})
	}()
	return r
}

// replayed makes events of the changes up to a revision.
func (c *Collection) replayed(changes []store.Change, to int64) ([]*Event, error) {
	events := make([]*Event, 0, len(changes))
	for _, ch := range changes {
		if ch.Revision > to {
			break
		}
		var prev, next *Entry
		var err error
		if ch.Previous != nil {
			// The revision of the previous state is not told; only the bytes matter, shown at the change's.
			if prev, err = read(c.codec, store.KV{Key: ch.Key, Value: ch.Previous, Revision: ch.Revision}); err != nil {
				return nil, fmt.Errorf("replay %s: %w", ch.Key, err)
			}
		}
		if !ch.Deleted {
			if next, err = read(c.codec, ch.KV); err != nil {
				return nil, fmt.Errorf("replay %s: %w", ch.Key, err)
			}
		}
		events = append(events, newEvent(ch.Revision, prev, next))
	}
	return events, nil
}

// readReplay takes what was read from etcd into the backlog, or waits for it. After the last of it replay is nil.
func (w *Watcher) readReplay(ctx context.Context) error {
	var batch []*Event
	var more bool
	select {
	case batch, more = <-w.replay.batches:
	case <-ctx.Done():
		select {
		case batch, more = <-w.replay.batches:
		default:
			return ctx.Err()
		}
	}
	if more {
		w.backlog = w.selected(batch)
		return nil
	}
	err := w.replay.err
	w.replay = nil
	if errors.Is(err, errReplayed) {
		return nil
	}
	return err
}
