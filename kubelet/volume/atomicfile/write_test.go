package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		// A link to a folder is walked as the folder.
		root := filepath.Join(folder, entry.Name())
		resolved, err := filepath.EvalSymlinks(root)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(resolved, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			found[entry.Name()+strings.TrimPrefix(path, resolved)] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func file(text string) File { return File{Data: []byte(text), Mode: 0o640} }

func keep(string) error { return nil }

func TestWrite(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Unix(0, 0)
	for _, step := range []struct {
		name    string
		files   map[string]File
		changed bool
	}{
		{"first", map[string]File{"a": file("1"), "d/b": file("2"), "d/e/c": file("3")}, true},
		{"same", map[string]File{"a": file("1"), "d/b": file("2"), "d/e/c": file("3")}, false},
		{"changed", map[string]File{"a": file("other"), "d/b": file("2"), "d/e/c": file("3")}, true},
		{"one less", map[string]File{"d/b": file("2")}, true},
		{"empty", map[string]File{}, true},
		{"still empty", map[string]File{}, false},
	} {
		changed, err := Write(folder, step.files, now, keep)
		if err != nil || changed != step.changed {
			t.Errorf("%s: changed = %v, err = %v", step.name, changed, err)
		}
		want := map[string]string{}
		for name, f := range step.files {
			want[name] = string(f.Data)
		}
		if got := contents(t, folder); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", step.name, got, want)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 { // ..data and the folder behind it
		t.Errorf("left: %v, %v", entries, err)
	}
}

func TestModeAndLinks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := Write(folder, map[string]File{"a": {Data: []byte("x"), Mode: 0o400}}, time.Unix(0, 0), keep); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(folder, "a"))
	if err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("mode = %v, err = %v", info.Mode(), err)
	}
	if link, err := os.Readlink(filepath.Join(folder, "a")); err != nil || link != "..data/a" {
		t.Errorf("link = %q, err = %v", link, err)
	}
}

func TestPathsStayInside(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../a", "/a", "..a", "", ".", "a/../../b"} {
		if _, err := Write(t.TempDir(), map[string]File{name: file("x")}, time.Unix(0, 0), keep); err == nil {
			t.Errorf("%q was written", name)
		}
	}
}

// What can't be finished is never seen.
func TestFailureLeavesTheOldFiles(t *testing.T) {
	t.Parallel()
	folder, now := t.TempDir(), time.Unix(0, 0)
	if _, err := Write(folder, map[string]File{"a": file("1")}, now, keep); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := Write(folder, map[string]File{"a": file("2")}, now, func(string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
	if got := contents(t, folder); !reflect.DeepEqual(got, map[string]string{"a": "1"}) {
		t.Errorf("files = %v", got)
	}
}
