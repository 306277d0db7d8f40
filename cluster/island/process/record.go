package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Record identifies a process for as long as the machine's memory lasts: its number, when it started, and in
// which run of the kernel. The zero Record is no process.
type Record struct {
	PID int `json:"pid"`
	// StartTicks is the start in clock ticks since boot (proc(5), field 22 of stat).
	StartTicks uint64 `json:"startTicks"`
	// Boot is the kernel's identifier of this boot.
	Boot string `json:"boot"`
}

// Of describes the running process with this number.
func Of(pid int) (Record, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Record{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	ticks, err := startTicks(string(content))
	if err != nil {
		return Record{}, fmt.Errorf("process %d: %w", pid, err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Record{}, fmt.Errorf("read the boot's identifier: %w", err)
	}
	return Record{PID: pid, StartTicks: ticks, Boot: strings.TrimSpace(string(boot))}, nil
}

// startTicks reads field 22 of a stat line. The second field, the command's name in parentheses, may hold
// anything, so counting begins behind its last parenthesis: at field 3.
func startTicks(stat string) (uint64, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("unreadable stat line %q", stat)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}

// Alive tells whether this very process still runs. A zombie counts as ended.
func (r Record) Alive() bool {
	held, err := r.Open()
	if err != nil || held == nil {
		return false
	}
	// Closing a descriptor that was just opened for reading can't lose anything.
	_ = held.Close()
	return true
}

// Save writes the record to a file, at once.
func Save(file string, record Record) error {
	content, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode process record: %w", err)
	}
	if err := os.WriteFile(file+".partial", content, 0o600); err != nil {
		return fmt.Errorf("write process record: %w", err)
	}
	if err := os.Rename(file+".partial", file); err != nil {
		return fmt.Errorf("put process record in place: %w", err)
	}
	return nil
}

// Load reads a record; a missing file gives the zero Record.
func Load(file string) (Record, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, fmt.Errorf("read process record: %w", err)
	}
	var record Record
	if err := json.Unmarshal(content, &record); err != nil {
		return Record{}, fmt.Errorf("process record %s: %w", file, err)
	}
	return record, nil
}
