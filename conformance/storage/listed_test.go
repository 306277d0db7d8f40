package storage

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var exported = regexp.MustCompile(`(?m)^func Run(?:Optional)?(?:Test)?(?:Optional)?(\w+)\(`)

// TestEverySuiteIsListed: what upstream exports is run, or stands in notRun.
func TestEverySuiteIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, table := range [][]suite{writes, lists, watches} {
		for _, s := range table {
			listed[s.name] = true
		}
	}
	for name := range notRun {
		if listed[name] {
			t.Errorf("%s is run, and said not to be", name)
		}
		listed[name] = true
	}
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/apiserver/pkg/storage/testing").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range exported.FindAllSubmatch(b, -1) {
			if name := string(m[1]); !strings.HasPrefix(name, "Benchmark") {
				count++
				if !listed[name] {
					t.Errorf("%s is not listed", name)
				}
			}
		}
	}
	if count != len(listed) {
		t.Errorf("upstream exports %d suites, %d are listed", count, len(listed))
	}
}
