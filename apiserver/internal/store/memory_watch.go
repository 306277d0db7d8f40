package store

import (
	"context"
	"strings"
)

func (m *memory) Watch(ctx context.Context, prefix string, revision int64, _ bool, f func(seen int64, changes []Change) error) error {
	for {
		changes, seen, news, err := m.since(revision)
		if err != nil {
			return err
		}
		revision = seen
		if err := f(seen, below(prefix, changes)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.closed:
			return errClosed
		case <-news:
		}
	}
}

// since gives the changes after a revision, the revision they lead to, and what is closed when there are more.
func (m *memory) since(revision int64) ([]Change, int64, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changes, err := m.history.after(revision, true)
	return changes, max(revision, m.revision.Load()), m.news, err
}

// below gives the changes of keys with a prefix.
func below(prefix string, changes []Change) []Change {
	if len(changes) == 0 || prefix == Prefix {
		return changes
	}
	var out []Change
	for _, c := range changes {
		if strings.HasPrefix(c.Key, prefix) {
			out = append(out, c)
		}
	}
	return out
}

func (m *memory) Replay(ctx context.Context, prefix string, revision int64, f func(seen int64, changes []Change) error) error {
	return m.Watch(ctx, prefix, revision, true, f)
}

// RequestProgress has every watch look anew.
func (m *memory) RequestProgress(ctx context.Context) error {
	if err := m.open(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.publish(m.revision.Load())
	return nil
}
