package inprocess

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkersAreUsedAgainAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWorkers()
		seen := map[string]bool{}
		for range 10 {
			w.run(func() { seen[goroutine()] = true })
			synctest.Wait()
		}
		if len(seen) != 1 {
			t.Errorf("%d goroutines for one request after another", len(seen))
		}
		hold := make(chan struct{})
		ran := 0
		w.run(func() { <-hold })
		w.run(func() { ran++ })
		synctest.Wait()
		if ran != 1 {
			t.Error("a request waits for another")
		}
		close(hold)
		<-time.After(2 * linger)
	}) // which fails if a goroutine is left
}

// goroutine is the first line of the stack, which names it.
func goroutine() string {
	b := make([]byte, 32)
	b = b[:runtime.Stack(b, false)]
	for i, c := range b {
		if c == '[' {
			return string(b[:i])
		}
	}
	return string(b)
}
