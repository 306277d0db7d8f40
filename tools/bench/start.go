package main

import (
	"context"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// rounds of each measurement that is of one moment; the median counts.
const rounds = 5

// measureStart starts a control plane several times: how long until it is ready, until the default account is
// there, and how much memory it takes at rest.
func measureStart(ctx context.Context, start starter, add func(row, string, float64)) error {
	var readies, accounts []time.Duration
	for i := range rounds {
		began := time.Now()
		err := with(ctx, start, func(s side) error {
			c, err := kubernetes.NewForConfig(s.config)
			if err != nil {
				return err
			}
			if err := await(ctx, func(ctx context.Context) bool {
				return c.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
			}); err != nil {
				return err
			}
			readies = append(readies, time.Since(began))
			if err := await(ctx, func(ctx context.Context) bool {
				_, err := c.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
				return err == nil
			}); err != nil {
				return err
			}
			accounts = append(accounts, time.Since(began))
			if i < rounds-1 {
				return nil
			}
			memory, err := resident(ctx, s.processes)
			add("resident memory, idle", "MiB", float64(memory>>20))
			return err
		})
		if err != nil {
			return err
		}
	}
	add("process start to `/readyz`", "s", median(readies).Seconds())
	add("process start to the `default` ServiceAccount", "s", median(accounts).Seconds())
	return nil
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// measureStop opens watches and asks the processes to end.
func measureStop(ctx context.Context, start starter, add func(row, string, float64)) error {
	dir, err := os.MkdirTemp("", "kogge-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := start(ctx, dir)
	if err != nil {
		if s.stop != nil {
			s.stop()
		}
		return err
	}
	ws, err := openWatches(ctx, s.config, "/api/v1/namespaces/default/configmaps", watchers)
	if err != nil {
		s.stop()
		return err
	}
	defer ws.close()
	began := time.Now()
	s.stop()
	add("stop, with 100 open watches", "s", time.Since(began).Seconds())
	return nil
}
