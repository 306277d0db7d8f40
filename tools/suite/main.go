package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	ctrllog.SetLogger(logr.Discard()) // managers of controllers have loggers of their own
	s := suite{}
	flag.StringVar(&s.bin, "bin", "bin", "folder of the binaries")
	flag.StringVar(&s.lists, "lists", "conformance/upstream", "folder of the lists of tests")
	flag.StringVar(&s.out, "out", "", "folder for reports")
	flag.StringVar(&s.kubeconfig, "kubeconfig", "", "cluster of the set \"all\"")
	flag.StringVar(&s.focus, "focus", "", "regular expression: of the chosen tests only those whose name matches")
	flag.IntVar(&s.procs, "procs", 8, "tests that run side by side")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

// suite is one run.
type suite struct {
	bin, lists, out, kubeconfig string
	focus                       string
	procs                       int
}

// errFailed: the suite ran, and not everything passed.
var errFailed = errors.New("not everything passed")

func (s *suite) run(ctx context.Context, set string) error {
	for _, path := range []*string{&s.bin, &s.lists, &s.out} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	parts, err := s.parts(set)
	if err != nil {
		return err
	}
	total := tally{}
	for _, p := range parts {
		t, err := s.runPart(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		total.add(t)
	}
	slices.Sort(total.failed)
	for _, name := range total.failed {
		fmt.Println("failed:", name)
	}
	for _, name := range total.missing {
		fmt.Println("did not run:", name)
	}
	fmt.Printf("%d passed, %d failed\n", total.passed, len(total.failed)+len(total.missing))
	if len(total.failed)+len(total.missing) > 0 {
		return errFailed
	}
	return nil
}
