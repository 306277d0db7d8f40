package gcpace

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Run sets the runtime's GOGC after each collection until ctx is done, then puts back what was; it begins when the
// process has started. An operator's GOGC or GOMEMLIMIT in the environment stays as it is. It returns no error.
func Run(ctx context.Context) error {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	last := time.Now()
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(settling):
	}
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	done, hot := collected(), false
	for set := usual; ; {
		var rested <-chan time.Time
		if hot {
			rested = time.After(rest)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-rested:
			hot = false
			debug.FreeOSMemory() // which collects
			continue
		case <-done:
			done = collected()
		}
		now, alive := time.Now(), live()
		since := now.Sub(last)
		// Setting it stops the world for a moment; a small change isn't worth that.
		if want := percent(alive, room(alive, since)); want*10 < set*9 || want*9 > set*10 {
			debug.SetGCPercent(want)
			set = want
		}
		last, hot = now, since < hotBelow
	}
}

// usual is the runtime's own GOGC.
const usual = 100

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

// live is what the last collection found in use, in bytes.
func live() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
