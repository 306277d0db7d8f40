package gcpace

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// Run sets the runtime's GOGC after each collection until ctx is done, then puts back what was; it begins when the
// process has started. An operator's GOGC or GOMEMLIMIT in the environment stays as it is. It returns no error.
func Run(ctx context.Context) error {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(settling):
	}
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	p := pace{set: usual, most: mostFor(), last: read()}
	for done := collected(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-p.resting():
			p.rest()
		case <-done:
			done = collected()
			p.collection()
		}
	}
}

// usual is the runtime's own GOGC.
const usual = 100

// pace is what Run remembers.
type pace struct {
	set  int     // GOGC as it is
	most uint64  // room that the machine has, in bytes
	last figures // after the last collection
	hot  bool
	seen uint64 // bytes allocated at the last look for a rest
}

// collection decides after one how long it is until the next.
func (p *pace) collection() {
	now := read()
	c := now.since(p.last, p.hot)
	p.last, p.hot, p.seen = now, c.heat(), now.allocated
	// Setting it stops the world for a moment; a small change isn't worth that.
	if want := percent(c.live, c.next(p.most)); want*10 < p.set*9 || want*9 > p.set*10 {
		debug.SetGCPercent(want)
		p.set = want
	}
}

// resting fires when it is time to look whether a hot process rests; others never do.
func (p *pace) resting() <-chan time.Time {
	if !p.hot {
		return nil
	}
	return time.After(rest)
}

// rest gives memory back if the process does nothing that needs it.
func (p *pace) rest() {
	now := read()
	if p.hot = now.allocated-p.seen >= restless; !p.hot {
		debug.FreeOSMemory() // which collects
	}
	p.seen = now.allocated
}

// sentinel is large enough, and has a pointer, so that it gets memory of its own.
type sentinel struct {
	_ *sentinel
	_ [3]uintptr
}

// collected is closed after a collection that began after the call.
func collected() <-chan struct{} {
	done := make(chan struct{})
	runtime.AddCleanup(&sentinel{}, func(c chan struct{}) { close(c) }, done)
	return done
}
