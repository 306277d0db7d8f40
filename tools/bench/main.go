package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	b := bench{}
	flag.StringVar(&b.bin, "bin", "bin", "folder of the binaries")
	flag.StringVar(&b.example, "example", "manifests/examples/nginx.yaml", "manifest of the rollout that is measured")
	steps := flag.String("steps", "", "regular expression: the steps of load to run, in their order")
	only := flag.String("only", "", "regular expression: the parts to run, of start, load, stop, envtest, placing, simulation and cluster")
	flag.StringVar(&b.profiles, "profiles", "", "folder for profiles of ours under load; they cost time")
	flag.StringVar(&b.sides, "sides", "both", "which control planes: both, genuine, ours")
	flag.IntVar(&b.nodes, "nodes", 1000, "how many nodes there are in placing, whose workloads are steps too, and in simulation")
	flag.Parse()
	ctrllog.SetLogger(logr.Discard()) // managers of controllers have loggers of their own
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if b.steps, err = regexp.Compile(*steps); err == nil {
		b.only, err = regexp.Compile(*only)
	}
	if err == nil {
		err = b.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	bin, example, sides, profiles string
	only, steps                   *regexp.Regexp
	nodes                         int
	table                         table
}

// part is one measurement of a control plane.
type part struct {
	name string
	// ours: the genuine control plane, of four processes, has nothing to compare.
	ours bool
	run  func(ctx context.Context, start starter, add func(row, string, float64)) error
}

var parts = []part{{"start", false, measureStart}, {"load", false, measureLoad}, {"stop", true, measureStop}}

// comparison is a measurement that starts what it needs itself, of one side.
type comparison struct {
	name string
	run  func(ctx context.Context, side string, add func(row, string, float64)) error
}

func (b *bench) comparisons(bin string) []comparison {
	return []comparison{
		{"envtest", func(ctx context.Context, side string, add func(row, string, float64)) error {
			return measureEnvtest(ctx, side, bin, add)
		}},
		{"placing", func(ctx context.Context, side string, add func(row, string, float64)) error {
			return measurePlacing(ctx, side, bin, b.nodes, b.steps.MatchString, add)
		}},
		{"simulation", func(ctx context.Context, side string, add func(row, string, float64)) error {
			return measureSimulation(ctx, side, bin, b.nodes, add)
		}},
	}
}

func (b *bench) run(ctx context.Context) error {
	bin, err := filepath.Abs(b.bin)
	if err != nil {
		return err
	}
	starters := map[string]starter{
		"genuine": func(ctx context.Context, dir string) (side, error) {
			s, err := startGenuine(ctx, bin, dir)
			s.steps = b.steps
			return s, err
		},
		"ours": func(ctx context.Context, dir string) (side, error) {
			s, err := startOurs(ctx, bin, dir)
			s.profiles, s.steps = b.profiles, b.steps
			return s, err
		},
	}
	for _, p := range parts {
		if !b.only.MatchString(p.name) {
			continue
		}
		for _, name := range []string{"genuine", "ours"} {
			if b.sides != "both" && b.sides != name || p.ours && name == "genuine" {
				continue
			}
			err := p.run(ctx, starters[name], func(r row, unit string, value float64) { b.table.add(r, unit, name, value) })
			if err != nil {
				return errors.Join(fmt.Errorf("%s, %s: %w", p.name, name, err), b.table.print(os.Stdout))
			}
		}
	}
	for _, c := range b.comparisons(bin) {
		for _, name := range []string{"genuine", "ours"} {
			if !b.only.MatchString(c.name) || b.sides != "both" && b.sides != name {
				continue
			}
			err := c.run(ctx, name, func(r row, unit string, value float64) { b.table.add(r, unit, name, value) })
			if err != nil {
				return errors.Join(fmt.Errorf("%s, %s: %w", c.name, name, err), b.table.print(os.Stdout))
			}
		}
	}
	if b.only.MatchString("cluster") && b.sides != "genuine" {
		created, rolledOut, err := measureCluster(ctx, bin, b.example)
		if err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
		b.table.add("`create cluster`, two nodes Ready", "s", "ours", created.Seconds())
		b.table.add("the example: apply to all Ready", "s", "ours", rolledOut.Seconds())
	}
	return b.table.print(os.Stdout)
}
