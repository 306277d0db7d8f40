package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStagesOfFilesAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const stage = "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: NAME}\nspec: {resourceRef: {kind: Pod}, selector: {}}\n"
	simulation := write("simulation.yaml", "nodes: 3\n")
	one, two := write("one.yaml", strings.ReplaceAll(stage, "NAME", "one")), write("two.yaml", "# nothing\n---\n"+strings.ReplaceAll(stage, "NAME", "two"))
	c, err := simulationConfiguration(simulation, []string{one, two}, "test")
	if err != nil || c.Nodes != 3 || len(c.Stages) != 2 || c.Stages[1].Name != "two" || c.Template.Prefix != "test-simulated-" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := simulationConfiguration("", []string{simulation}, "test"); err == nil || !strings.Contains(err.Error(), "simulation.yaml: no object of kind Stage") {
		t.Errorf("a file without stages: %v", err)
	}
}
