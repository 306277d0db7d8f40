package volume

import (
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestCheckHostPath(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(folder, "missing")
	for _, test := range []struct {
		path string
		kind v1.HostPathType
		want string
	}{
		{folder, v1.HostPathUnset, ""}, {folder, v1.HostPathDirectory, ""}, {file, v1.HostPathFile, ""}, {"/dev/null", v1.HostPathCharDev, ""},
		{missing, v1.HostPathUnset, ""},
		{file, v1.HostPathDirectory, "hostPath type check failed: " + file + " is not a directory"},
		{folder, v1.HostPathFile, "hostPath type check failed: " + folder + " is not a file"},
		{file, v1.HostPathSocket, "hostPath type check failed: " + file + " is not a socket file"},
		{missing, v1.HostPathDirectory, "hostPath type check failed: " + missing + " is not a directory"},
		{folder + "/made", v1.HostPathDirectoryOrCreate, ""}, {folder + "/touched", v1.HostPathFileOrCreate, ""},
	} {
		got := ""
		if err := checkHostPath(&v1.HostPathVolumeSource{Path: test.path, Type: &test.kind}); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s as %q: %q, want %q", test.path, test.kind, got, test.want)
		}
	}
	for name, isFolder := range map[string]bool{"made": true, "touched": false} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.IsDir() != isFolder {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestMakeSubPathStaysInside(t *testing.T) {
	t.Parallel()
	outside, volume := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(volume, "escape")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(volume, 0o751); err != nil {
		t.Fatal(err)
	}
	if err := makeSubPath(volume, "escape/made"); err == nil {
		t.Error("a link led out of the volume")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	if err := makeSubPath(volume, "a/b"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "a/b"} {
		if info, err := os.Stat(filepath.Join(volume, name)); err != nil || info.Mode().Perm() != 0o751 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestUnescape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`/a\040b`: "/a b", `/plain`: "/plain", `/x\134`: `/x\`, `/end\04`: `/end\04`} {
		if got := unescape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
