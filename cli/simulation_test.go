package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// simulatedSteps are what a user without privileges does with simulated nodes.
var simulatedSteps = []step{
	{`kogge create cluster --name test-simulated --simulated-nodes 7 --simulation simulation.yaml --wait 60s`, `(?s)7 simulated nodes to be ready.+is up after.+Pods are simulated`},
	{`kogge get nodes --name test-simulated`, `(?s)^gpu-0\n.*gpu-6\n$`},
	{`kogge scale nodes 9 --name test-simulated --wait 60s`, `has 9 simulated nodes`},
	{`kogge scale nodes -- -1 --name test-simulated; kogge scale nodes many --name test-simulated`, `(?s)no number of nodes|must be 0 to 32768`},
	{`kill -9 $(sed 's/.*"pid": *\([0-9]*\).*/\1/' home/test-simulated/run/server.json | tr -dc 0-9)`, `^$`},
	{`kogge scale nodes 2 --name test-simulated --wait 60s`, `has 2 simulated nodes`},
	{`kogge get nodes --name test-simulated`, `^gpu-0\ngpu-1\n$`},
	{`kogge delete cluster --name test-simulated`, `Deleted cluster`},
	{`ls home; echo end`, `(?s)home': No such file.+end`},
}

func TestSimulatedCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kogge := filepath.Join(dir, "bin", "kogge")
	if err := os.Mkdir(filepath.Dir(kogge), 0o755); err != nil {
		t.Fatal(err)
	}
	if os.Link(self, kogge) != nil {
		copyFile(t, self, kogge)
	}
	configuration := "template: {prefix: gpu-, capacity: {example.com/gpu: 8}}\n"
	if err := os.WriteFile(filepath.Join(dir, "simulation.yaml"), []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := shell{dir: dir, environment: append(os.Environ(),
		"PATH="+filepath.Dir(kogge)+":"+os.Getenv("PATH"), "KOGGE_HOME="+filepath.Join(dir, "home"),
		"KUBECONFIG="+filepath.Join(dir, "kubeconfig"), "HOME="+dir,
	)}
	t.Cleanup(func() {
		if output, err := shell.run(context.WithoutCancel(t.Context()), "kogge delete cluster --name test-simulated"); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
	})
	for _, step := range simulatedSteps {
		began := time.Now()
		output, err := shell.run(t.Context(), step.line)
		if !regexp.MustCompile(step.want).Match(output) {
			t.Fatalf("%s\n%s\n%v; want a match of %q", step.line, output, err, step.want)
		}
		t.Logf("%-6s %s", time.Since(began).Round(10*time.Millisecond), step.line)
	}
}
