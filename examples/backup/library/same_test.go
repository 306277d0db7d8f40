package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportPathIsAll that differs between the two ways with an Environment.
func TestImportPathIsAll(t *testing.T) {
	t.Parallel()
	lines := func(folder string) (out []string) {
		content, err := os.ReadFile(filepath.Join("..", folder, "environment_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		imports := 0
		for line := range strings.Lines(string(content)) {
			if strings.HasSuffix(line, "/envtest\"\n") {
				imports++
				continue
			}
			out = append(out, line)
		}
		if imports != 1 {
			t.Errorf("%s imports %d packages called envtest", folder, imports)
		}
		return out
	}
	theirs, ours := strings.Join(lines("binaries"), ""), strings.Join(lines("library"), "")
	if theirs != ours {
		t.Errorf("controller-runtime's:\n%s\nours:\n%s", theirs, ours)
	}
}
