package firstminutes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// lineTimeout is how long one line may take: far longer than any does.
const lineTimeout = 2 * time.Minute

// step is a line that a user types, and what it shows.
type step struct {
	line string
	// after is run by the same shell afterwards: what the user sees next.
	after string
	check check
}

// check tells what is wrong with what a line has shown; nil: nothing.
type check func(output string) error

// shows has the output match all of the expressions.
func shows(expressions ...string) check {
	return func(output string) error {
		for _, expression := range expressions {
			if !regexp.MustCompile(expression).MatchString(output) {
				return fmt.Errorf("no match of %q", expression)
			}
		}
		return nil
	}
}

// silent has the output be empty.
func silent(output string) error {
	if output != "" {
		return errors.New("nothing was to be shown")
	}
	return nil
}

// all has every check pass.
func all(checks ...check) check {
	return func(output string) error {
		for _, check := range checks {
			if err := check(output); err != nil {
				return err
			}
		}
		return nil
	}
}

// shell runs lines in the checkout, as README says.
type shell struct {
	checkout    string
	environment []string
}

// newShell makes a shell which finds the built programs first, and among them this kubectl under that name. $SCRATCH is
// a directory for what lines write, and HOME as well; $NAME is the cluster that make is about.
func newShell(t *testing.T, checkout, scratch, cluster, kubectl string) *shell {
	t.Helper()
	programs := filepath.Join(t.TempDir(), "programs")
	if err := os.Mkdir(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(checkout, "bin", kubectl), filepath.Join(programs, "kubectl")); err != nil {
		t.Fatal(err)
	}
	return &shell{checkout: checkout, environment: append(os.Environ(),
		"PATH="+programs+":"+filepath.Join(checkout, "bin")+":"+os.Getenv("PATH"),
		"HOME="+scratch, "SCRATCH="+scratch, "CLUSTER="+cluster, "NAME="+cluster,
		"KOGGE_HOME="+filepath.Join(scratch, "clusters"), "KUBECONFIG="+filepath.Join(scratch, "kubeconfig"),
	)}
}

// run has bash run a line and returns all that was shown; how it ended the line itself may show.
func (s *shell) run(ctx context.Context, line string) string {
	ctx, cancel := context.WithTimeout(ctx, lineTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", line)
	command.Dir, command.Env = s.checkout, s.environment
	// What a killed line leaves in the background must not hold the test.
	command.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		fmt.Fprintf(&output, "(%v)\n", err)
	}
	return output.String()
}

// follow runs the steps until one shows something else than it should.
func (s *shell) follow(t *testing.T, steps []step) {
	t.Helper()
	for _, step := range steps {
		began := time.Now()
		line := step.line
		if step.after != "" {
			line += "\n" + step.after
		}
		output := s.run(t.Context(), line)
		if err := step.check(output); err != nil {
			t.Fatalf("%s\n%s%v\nThe cluster then:\n%s", line, output, err, s.run(t.Context(), "kubectl get all -o wide; kubectl events | tail -n 30"))
		}
		t.Logf("%-6s %s", time.Since(began).Round(10*time.Millisecond), step.line)
	}
}
