package store

import (
	"context"
	"errors"
)

// ErrGone is what a store answers while it is cut off.
var ErrGone = errors.New("etcdserver: request timed out")

// Cut has everything fail from now on as if etcd were gone, or work again. What is stored stays; watches are silent meanwhile.
func (s *Store) Cut(gone bool) { s.gone.Store(gone) }

func (s *Store) reach() error {
	if s.gone.Load() {
		return ErrGone
	}
	return nil
}

// Create stores a new key.
func (s *Store) Create(ctx context.Context, key string, value []byte, ttl int64) (int64, error) {
	if err := s.reach(); err != nil {
		return 0, err
	}
	return s.engine.Create(ctx, key, value, ttl)
}

// Update replaces a value.
func (s *Store) Update(ctx context.Context, key string, value []byte, expected, ttl int64) (int64, error) {
	if err := s.reach(); err != nil {
		return 0, err
	}
	return s.engine.Update(ctx, key, value, expected, ttl)
}

// Delete removes a key.
func (s *Store) Delete(ctx context.Context, key string, expected int64) (int64, error) {
	if err := s.reach(); err != nil {
		return 0, err
	}
	return s.engine.Delete(ctx, key, expected)
}

// Range reads keys.
func (s *Store) Range(ctx context.Context, from, end string, limit, revision int64) (Page, error) {
	if err := s.reach(); err != nil {
		return Page{}, err
	}
	return s.engine.Range(ctx, from, end, limit, revision)
}

// Latest is the revision that a fresh read must see.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	if err := s.reach(); err != nil {
		return 0, err
	}
	return s.engine.Latest(ctx)
}

// Healthy says whether the store answers.
func (s *Store) Healthy(ctx context.Context) error {
	if err := s.reach(); err != nil {
		return err
	}
	return s.engine.Healthy(ctx)
}
