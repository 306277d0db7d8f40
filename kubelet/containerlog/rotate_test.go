package containerlog

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRotate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "0.log")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	reopen := func(context.Context) error { return os.WriteFile(path, nil, 0o600) }
	names := func() []string {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, entry := range entries {
			list = append(list, strings.TrimPrefix(entry.Name(), "0.log"))
		}
		slices.Sort(list)
		return list
	}
	for i, want := range [][]string{
		{"", ".20260101-000000"},
		{"", ".20260101-000000.gz", ".20260101-000001"},
		{"", ".20260101-000001.gz", ".20260101-000002"}, // three files are allowed
	} {
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Rotate(t.Context(), path, now.Add(time.Duration(i)*time.Second), Rotation{MaxBytes: 100, MaxFiles: 3}, reopen); err != nil {
			t.Fatal(err)
		}
		if got := names(); !reflect.DeepEqual(got, want) {
			t.Errorf("rotation %d: %q, want %q", i, got, want)
		}
	}
	if err := Rotate(t.Context(), path, now.Add(time.Hour), Rotation{MaxBytes: 100, MaxFiles: 3}, reopen); err != nil || len(names()) != 3 {
		t.Errorf("a small log was rotated: %v, %q", err, names())
	}
}
