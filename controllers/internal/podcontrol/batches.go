package podcontrol

import "sync"

// Burst is how many pods one pass creates or deletes at most.
const Burst = 500

// SlowStart calls make for 0 to count-1 in batches of 1, 2, 4, …, each batch at the same
// time, and stops after the first batch in which a call failed. It gives the first error.
func SlowStart(count int, make func(i int) error) error {
	for batch, begun := 1, 0; begun < count; batch *= 2 {
		batch = min(batch, count-begun)
		if err := Together(batch, func(i int) error { return make(begun + i) }); err != nil {
			return err
		}
		begun += batch
	}
	return nil
}

// Together calls do for 0 to count-1 at the same time and gives the first error.
func Together(count int, do func(i int) error) error {
	failed := make([]error, count)
	var group sync.WaitGroup
	for i := range count {
		group.Go(func() { failed[i] = do(i) })
	}
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}
