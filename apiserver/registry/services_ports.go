package registry

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/wire"
)

// portsKey holds the node ports that are taken, in the form that a genuine server keeps them in.
const portsKey = "/registry/ranges/servicenodeports"

var (
	errRangeFull     = errors.New("range is full")
	errPortTaken     = errors.New("provided port is already allocated")
	errOtherRange    = errors.New("the provided port range does not match the current port range")
	rangeAllocations = corev1.SchemeGroupVersion.WithKind("RangeAllocation")
)

// portSet is a set of ports of a range.
type portSet struct {
	first, last int // both included
	bits        big.Int
}

func (s *portSet) clone() *portSet {
	c := &portSet{first: s.first, last: s.last}
	c.bits.Set(&s.bits)
	return c
}

func (s *portSet) span() string        { return fmt.Sprintf("%d-%d", s.first, s.last) }
func (s *portSet) contains(n int) bool { return n >= s.first && n <= s.last }
func (s *portSet) has(n int) bool      { return s.contains(n) && s.bits.Bit(n-s.first) == 1 }

// take adds a port unless it is taken or outside of the range.
func (s *portSet) take(n int) error {
	switch {
	case !s.contains(n):
		return fmt.Errorf("provided port is not in the valid range. The range of valid ports is %s", s.span())
	case s.has(n):
		return errPortTaken
	}
	s.bits.SetBit(&s.bits, n-s.first, 1)
	return nil
}

func (s *portSet) release(n int) {
	if s.contains(n) {
		s.bits.SetBit(&s.bits, n-s.first, 0)
	}
}

// Ports at the beginning of the range are left to those who choose theirs, as long as there are others (KEP-3668).
const leastChosen, mostChosen, chosenShare = 16, 128, 32

// takeAny adds a port that is free.
func (s *portSet) takeAny() (int, error) {
	size, chosen := s.last-s.first+1, 0
	if size > leastChosen {
		chosen = min(max(size/chosenShare, leastChosen), mostChosen)
	}
	for _, part := range [][2]int{{chosen, size}, {0, chosen}} {
		count := part[1] - part[0]
		if count == 0 {
			continue
		}
		start := rand.IntN(count)
		for i := range count {
			n := s.first + part[0] + (start+i)%count
			if s.take(n) == nil {
				return n, nil
			}
		}
	}
	return 0, errRangeFull
}

// nodePorts are the node ports that are taken, in the store, so that several servers never give one twice.
type nodePorts struct {
	store       *store.Store
	first, last int

	mu       sync.Mutex
	known    *portSet // what the store had last; nil: not read yet
	revision int64    // of known; 0: the store has none
}

// look gives the ports that are taken, as far as this server knows.
func (p *nodePorts) look(ctx context.Context) (*portSet, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		if err := p.read(ctx); err != nil {
			return nil, err
		}
	}
	return p.known.clone(), nil
}

// change edits the ports that are taken. edit may be called again when another server was faster; what it fails with
// is the result, once it failed on what the store has.
func (p *nodePorts) change(ctx context.Context, edit func(*portSet) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for fresh := false; ; {
		if p.known == nil {
			if err := p.read(ctx); err != nil {
				return err
			}
			fresh = true
		}
		next := p.known.clone()
		if err := edit(next); err != nil {
			if fresh {
				return err
			}
			p.known = nil // what is taken here may be free by now
			continue
		}
		if p.revision > 0 && next.bits.Cmp(&p.known.bits) == 0 {
			return nil
		}
		written, err := p.write(ctx, next)
		if written || err != nil {
			return err
		}
		p.known = nil
	}
}

// read takes over what the store has. The caller holds mu.
func (p *nodePorts) read(ctx context.Context) error {
	page, err := p.store.Range(ctx, portsKey, portsKey+"\x00", 1, 0)
	if err != nil {
		return fmt.Errorf("read the node ports that are taken: %w", err)
	}
	set, revision := &portSet{first: p.first, last: p.last}, int64(0)
	for _, kv := range page.Items {
		revision = kv.Revision
		body, err := wire.ProtobufBody(kv.Value)
		if err != nil {
			return fmt.Errorf("decode the node ports that are taken: %w", err)
		}
		var stored corev1.RangeAllocation
		if err := stored.Unmarshal(body); err != nil {
			return fmt.Errorf("decode the node ports that are taken: %w", err)
		}
		if stored.Range != set.span() {
			return errOtherRange
		}
		set.bits.SetBytes(stored.Data)
	}
	p.known, p.revision = set, revision
	return nil
}

// write stores a set, unless somebody else wrote since the last read. The caller holds mu.
func (p *nodePorts) write(ctx context.Context, set *portSet) (bool, error) {
	body, err := (&corev1.RangeAllocation{Range: set.span(), Data: set.bits.Bytes()}).Marshal()
	if err != nil {
		return false, fmt.Errorf("encode the node ports that are taken: %w", err)
	}
	raw, revision := wire.Envelope(rangeAllocations, body), int64(0)
	if p.revision == 0 {
		revision, err = p.store.Create(ctx, portsKey, raw, 0)
	} else {
		revision, err = p.store.Update(ctx, portsKey, raw, p.revision, 0)
	}
	var stale *store.ConflictError
	switch {
	case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNotFound), errors.As(err, &stale):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("write the node ports that are taken: %w", err)
	}
	p.known, p.revision = set, revision
	return true, nil
}
