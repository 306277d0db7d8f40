package gcpace

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// figures are what the runtime tells after a collection.
type figures struct {
	at        time.Time
	live      uint64  // what the collection left, in bytes
	allocated uint64  // bytes since the process began
	collected float64 // processor time that collecting took since then, in seconds, but for that of idle processors
	total     float64 // processor time that there was
}

const (
	metricLive      = "/gc/heap/live:bytes"
	metricAllocated = "/gc/heap/allocs:bytes"
	metricGC        = "/cpu/classes/gc/total:cpu-seconds"
	metricIdle      = "/cpu/classes/gc/mark/idle:cpu-seconds"
	metricTotal     = "/cpu/classes/total:cpu-seconds"
)

func read() figures {
	samples := []metrics.Sample{{Name: metricLive}, {Name: metricAllocated}, {Name: metricGC}, {Name: metricIdle}, {Name: metricTotal}}
	metrics.Read(samples)
	return figures{
		at: time.Now(), live: samples[0].Value.Uint64(), allocated: samples[1].Value.Uint64(),
		collected: samples[2].Value.Float64() - samples[3].Value.Float64(), total: samples[4].Value.Float64(),
	}
}

// since describes the collection that f was read after, and the time since the one of before.
func (f figures) since(before figures, hot bool) cycle {
	c := cycle{live: f.live, room: f.allocated - before.allocated, since: f.at.Sub(before.at), hot: hot}
	if total := f.total - before.total; total > 0 {
		c.share = (f.collected - before.collected) / total
	}
	return c
}

// limits are where a container finds how much memory it may take, by the version of cgroups.
var limits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// mostFor is what a hot process may get on this machine, or in this container: a quarter of its memory, within reason.
func mostFor() uint64 {
	memory := uint64(hotMost)
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		memory = uint64(info.Totalram) * uint64(info.Unit)
	}
	for _, file := range limits {
		// A file that isn't there, or has no number, limits nothing.
		if text, err := os.ReadFile(file); err == nil {
			if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				memory = min(memory, limit)
			}
		}
	}
	return min(memory/4, hotMost)
}
