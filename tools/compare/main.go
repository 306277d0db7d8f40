package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kogge-dev/kogge/tools/genuine"
)

func main() {
	ctrllog.SetLogger(logr.Discard()) // managers of controllers have loggers of their own
	bin := flag.String("bin", "bin", "folder with kubectl and the genuine binaries in genuine/")
	example := flag.String("example", "", "manifest that is applied on both sides")
	only := flag.String("only", "", "\"placing\": only whether either scheduler places pods alike")
	clusters := flag.Uint64("clusters", 25, "in how many random clusters pods are placed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, *bin, *example, *only, *clusters)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// run makes all comparisons, prints each and counts those that failed.
func run(ctx context.Context, bin, example, only string, clusters uint64) (failed int, err error) {
	dir, err := os.MkdirTemp("", "kogge-compare-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	report := func(name string, differences []string) {
		if len(differences) == 0 {
			fmt.Printf(" ✓ %s\n", name)
			return
		}
		failed++
		fmt.Printf(" ✗ %s\n", name)
		for _, d := range differences {
			fmt.Println(d)
		}
	}
	if only == "placing" {
		err := comparePlacing(ctx, bin+"/genuine", dir, clusters, report)
		return failed, err
	}
	g := &genuineSide{ControlPlane: genuine.ControlPlane{Bin: bin + "/genuine", Dir: dir + "/genuine"}}
	if err := g.start(ctx); err != nil {
		return 0, fmt.Errorf("genuine control plane: %w", err)
	}
	defer g.stop()
	o := &ours{dir: dir + "/ours"}
	if err := o.start(ctx); err != nil {
		return 0, fmt.Errorf("our control plane: %w", err)
	}
	defer o.stop()
	if err := compareOutput(ctx, bin+"/kubectl", example, g, o, report); err != nil {
		return failed, err
	}
	if err := compareData(ctx, g, o, report); err != nil {
		return failed, err
	}
	if err := compareWorkloads(ctx, bin+"/genuine", dir, report); err != nil {
		return failed, err
	}
	err = comparePlacing(ctx, bin+"/genuine", dir, clusters, report)
	fmt.Printf("%d comparisons failed\n", failed)
	return failed, err
}
