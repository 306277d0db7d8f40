package process_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kogge-dev/kogge/cluster/island/process"
)

// start runs a process that lasts until it is killed, and reaps it.
func start(t *testing.T) process.Record {
	t.Helper()
	command := exec.Command("sleep", "infinity")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	record, err := process.Of(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		// It ends by a signal, which Wait reports as an error.
		_ = command.Wait()
	}()
	t.Cleanup(func() {
		// It may have ended already, as most tests want.
		_ = command.Process.Kill()
		<-reaped
	})
	return record
}

func open(t *testing.T, record process.Record) *process.Held {
	t.Helper()
	held, err := record.Open()
	if err != nil {
		t.Fatal(err)
	}
	if held == nil {
		t.Fatal("the process runs, but was not found")
	}
	t.Cleanup(func() {
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	})
	return held
}

func TestRecordSurvivesAFileAndFindsItsProcess(t *testing.T) {
	t.Parallel()
	record := start(t)
	file := filepath.Join(t.TempDir(), "record.json")
	if err := process.Save(file, record); err != nil {
		t.Fatal(err)
	}
	loaded, err := process.Load(file)
	if err != nil || loaded != record {
		t.Fatalf("loaded %+v, %v, want %+v", loaded, err, record)
	}
	held := open(t, loaded)
	if err := held.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := held.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if loaded.Alive() {
		t.Error("alive after its end")
	}
	if err := held.Signal(unix.SIGTERM); err != nil {
		t.Errorf("signal after the end: %v", err)
	}
}

func TestAnotherProcessWithTheSameNumberIsNotMistaken(t *testing.T) {
	t.Parallel()
	record := start(t)
	for name, change := range map[string]func(*process.Record){
		"started at another time": func(r *process.Record) { r.StartTicks-- },
		"before a reboot":         func(r *process.Record) { r.Boot = "another" },
		"no process":              func(r *process.Record) { *r = process.Record{} },
	} {
		other := record
		change(&other)
		if other.Alive() {
			t.Errorf("%s: %+v counts as alive", name, other)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	held := open(t, start(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := held.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context was cancelled", err)
	}
	// The wait before must not make the next one end early.
	if err := held.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := held.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNoFileNoProcess(t *testing.T) {
	t.Parallel()
	record, err := process.Load(filepath.Join(t.TempDir(), "none"))
	if err != nil || record != (process.Record{}) {
		t.Errorf("got %+v, %v", record, err)
	}
}
