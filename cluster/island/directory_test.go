package island

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entries []string
		refused string
	}{
		"nothing":                {},
		"a cluster":              {entries: []string{"cluster.json", "etcd", "notes.txt"}},
		"deleted halfway":        {entries: []string{"nodes", "run", "pki"}},
		"written halfway":        {entries: []string{"simulation.json.partial"}},
		"somebody else's":        {entries: []string{"kube-apiserver"}, refused: "kube-apiserver is in it, and no cluster.json"},
		"with a name in common":  {entries: []string{"etcd", "kubectl"}, refused: "kubectl is in it"},
		"that does not exist":    {entries: nil},
		"with a folder of notes": {entries: []string{"notes"}, refused: "notes is in it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := Directory(filepath.Join(t.TempDir(), "some"))
			for _, entry := range c.entries {
				if err := os.MkdirAll(filepath.Join(string(directory), entry), 0o750); err != nil {
					t.Fatal(err)
				}
			}
			err := directory.Check()
			if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%v, want %q", err, c.refused)
			}
			if c.refused == "" {
				return
			}
			if err := Delete(t.Context(), directory); err == nil {
				t.Error("it was deleted")
			}
			if _, err := os.Stat(filepath.Join(string(directory), c.entries[0])); err != nil {
				t.Error(err)
			}
		})
	}
}
