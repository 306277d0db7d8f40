package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	genuineenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/envtest"
)

const (
	// alone and together are how often a start is measured: one after the other, and how many rounds of eight at once.
	alone, together = 20, 5
	atOnce          = 8
	// manyClusters run at the same time in one process.
	manyClusters = 50
	// objects are in the cluster that is forked and reset.
	objects = 10_000
)

// environment is an API server for a test: controller-runtime's of binaries, or ours.
type environment interface {
	Start() (*rest.Config, error)
	Stop() error
}

// adder takes a figure.
type adder func(r row, unit string, value float64)

// measureEnvtest measures what a test suite waits for. The side's environments are made by the function.
func measureEnvtest(ctx context.Context, side, bin string, add adder) error {
	create, times, rounds := func() environment { return &envtest.Environment{} }, alone, together
	if side == "genuine" {
		create = func() environment {
			return &genuineenvtest.Environment{BinaryAssetsDirectory: filepath.Join(bin, "genuine")}
		}
		times, rounds = 5, 1 // it takes its time
	}
	start := func(context.Context) (func() error, error) {
		e := create()
		_, err := e.Start()
		return e.Stop, err
	}
	if err := measureStarts(ctx, "envtest `Start`", start, times, rounds, add); err != nil {
		return err
	}
	if err := stopWatched(ctx, create(), add); err != nil || side == "genuine" {
		return err
	}
	toAccount := func(ctx context.Context) (func() error, error) {
		c, err := cluster.Start(ctx, cluster.Options{})
		if err != nil {
			return nil, err
		}
		return c.Stop, awaitAccount(ctx, c.RESTConfig())
	}
	if err := measureStarts(ctx, "`cluster.Start` to the `default` ServiceAccount", toAccount, times, rounds, add); err != nil {
		return err
	}
	return errors.Join(measureMany(ctx, add), measureSnapshots(ctx, add))
}

// measureStarts starts alone and eight at once.
func measureStarts(ctx context.Context, what string, start func(context.Context) (func() error, error), times, rounds int, add adder) error {
	for _, m := range []struct {
		how              string
		rounds, together int
	}{{"alone", times, 1}, {"eight at once", rounds, atOnce}} {
		var mu sync.Mutex
		var took []time.Duration
		for range m.rounds {
			var g errgroup.Group
			stops := make([]func() error, m.together)
			for i := range m.together {
				g.Go(func() (err error) {
					began := time.Now()
					stops[i], err = start(ctx)
					mu.Lock()
					defer mu.Unlock()
					took = append(took, time.Since(began))
					return err
				})
			}
			err := g.Wait()
			for _, stop := range stops {
				if stop != nil {
					err = errors.Join(err, stop())
				}
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", what, m.how, err)
			}
		}
		slices.Sort(took)
		add(row(fmt.Sprintf("%s, %s, p50", what, m.how)), "s", took[len(took)/2].Seconds())
		add(row(fmt.Sprintf("%s, %s, p99", what, m.how)), "s", took[(len(took)*99+99)/100-1].Seconds())
	}
	return nil
}

func awaitAccount(ctx context.Context, config *rest.Config) error {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	w, err := c.CoreV1().ServiceAccounts("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		return err
	}
	defer w.Stop()
	if _, ok := <-w.ResultChan(); !ok {
		return errors.New("the watch for the account ended")
	}
	return nil
}

// stopWatched stops an environment with open watches.
func stopWatched(ctx context.Context, e environment, add adder) error {
	config, err := e.Start()
	if err != nil {
		return errors.Join(err, e.Stop())
	}
	ws, err := openWatches(ctx, config, "/api/v1/namespaces/default/configmaps", watchers)
	if err != nil {
		return errors.Join(err, e.Stop())
	}
	defer ws.close()
	began := time.Now()
	err = e.Stop()
	add("envtest `Stop`, with 100 open watches", "s", time.Since(began).Seconds())
	if _, genuine := e.(*genuineenvtest.Environment); genuine && err != nil {
		// A genuine server waits for its watches, and envtest 20 seconds for the server: the second time it is gone.
		ws.close()
		return e.Stop()
	}
	return err
}

// measureMany runs many whole clusters in this process.
func measureMany(ctx context.Context, add adder) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	clusters := make([]*cluster.Cluster, manyClusters)
	var g errgroup.Group
	began := time.Now()
	for i := range clusters {
		g.Go(func() (err error) {
			if clusters[i], err = cluster.Start(ctx, cluster.Options{}); err != nil {
				return err
			}
			return awaitAccount(ctx, clusters[i].RESTConfig())
		})
	}
	err := g.Wait()
	if err == nil {
		add("50 clusters at once, all with their account", "s", time.Since(began).Seconds())
		err = atRest(ctx, add)
		runtime.GC()
		runtime.ReadMemStats(&after)
		add("50 clusters, memory of each", "MiB", float64(after.HeapAlloc-before.HeapAlloc)/manyClusters/(1<<20))
	}
	for _, c := range clusters {
		if c != nil {
			err = errors.Join(err, c.Stop())
		}
	}
	return err
}

// atRest measures what the clusters of this process cost at rest.
func atRest(ctx context.Context, add adder) error {
	settle := time.NewTimer(idle)
	defer settle.Stop()
	for range 2 {
		began, err := used()
		if err != nil {
			return err
		}
		select {
		case <-settle.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		ended, err := used()
		if err != nil {
			return err
		}
		add("50 clusters at rest, of one processor", "%", 100*(ended-began).Seconds()/idle.Seconds())
		settle.Reset(idle) // the first time they were not yet at rest
	}
	return nil
}

// used is the processor time of this process.
func used() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, os.NewSyscallError("getrusage", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// measureSnapshots takes, restores and forks a cluster that holds much.
func measureSnapshots(ctx context.Context, add adder) (err error) {
	bare := cluster.Options{Controllers: []string{}, WithoutScheduler: true}
	c, err := cluster.Start(ctx, bare)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	clients, err := kubernetes.NewForConfig(c.InProcessConfig())
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(16)
	for i := range objects {
		g.Go(func() error {
			_, err := clients.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c-", i)},
				Data: map[string]string{"v": strings.Repeat("x", 700)}}, metav1.CreateOptions{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	began := time.Now()
	snapshot, err := c.Snapshot(ctx)
	if err != nil {
		return err
	}
	add("snapshot of 10,000 objects", "ms", float64(time.Since(began).Microseconds())/1000)
	began = time.Now()
	fork, err := c.Fork(ctx, bare)
	if err != nil {
		return err
	}
	add("fork of 10,000 objects, until it is ready", "ms", float64(time.Since(began).Microseconds())/1000)
	if err := errors.Join(fork.Stop(), clients.CoreV1().ConfigMaps("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})); err != nil {
		return err
	}
	began = time.Now()
	if err := c.Restore(ctx, snapshot); err != nil {
		return err
	}
	add("restore of 10,000 objects that are all gone", "ms", float64(time.Since(began).Microseconds())/1000)
	return nil
}
