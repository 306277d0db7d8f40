package cache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// replay reads from etcd the changes that memory no longer holds, as its reader takes them.
type replay struct {
	batches chan []*Event
	err     error // why it ended; set before batches is closed
	cancel  context.CancelFunc
}

// replayInterval is how often etcd is asked whether all that was replayed.
const replayInterval = 20 * time.Millisecond

var errReplayed = errors.New("replayed")

// replay begins to read the changes in (from, to]. It ends with ctx.
func (c *Collection) replay(ctx context.Context, from, to int64) *replay {
	ctx, cancel := context.WithCancel(ctx)
	r := &replay{batches: make(chan []*Event), cancel: cancel}
	go func() {
		defer close(r.batches)
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			c.cache.askProgress(ctx)
		}()
		defer func() { cancel(); <-asked }()
		r.err = c.cache.store.Watch(ctx, c.prefix, from, true, func(seen int64, changes []store.Change) error {
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

// askProgress asks etcd again and again how far its watches are, until ctx ends: of a kind in which nothing changed it tells
// nothing else.
func (c *Cache) askProgress(ctx context.Context) {
	tick := time.NewTicker(replayInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := c.store.RequestProgress(ctx); err != nil && ctx.Err() == nil {
			c.log.Warn("progress of a replay", "error", err)
		}
	}
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
			if prev, err = read(c.codec, ch.Key, ch.Previous, ch.Revision); err != nil {
				return nil, fmt.Errorf("replay %s: %w", ch.Key, err)
			}
		}
		if !ch.Deleted {
			if next, err = read(c.codec, ch.Key, ch.Value, ch.Revision); err != nil {
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
