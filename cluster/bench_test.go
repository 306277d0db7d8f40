package cluster_test

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
)

// startToAccount starts a cluster and waits for the ServiceAccount that pods need.
func startToAccount(ctx context.Context) (*cluster.Cluster, error) {
	c, err := cluster.Start(ctx, cluster.Options{})
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		return c, err
	}
	w, err := clients.CoreV1().ServiceAccounts("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		return c, err
	}
	defer w.Stop()
	<-w.ResultChan()
	return c, nil
}

// BenchmarkStart is from nothing to the default ServiceAccount, one cluster after the other.
func BenchmarkStart(b *testing.B) { benchmarkStarts(b, 1) }

// BenchmarkStartEight is the same for eight at once.
func BenchmarkStartEight(b *testing.B) { benchmarkStarts(b, 8) }

// benchmarkStarts starts several clusters at once, again and again. It reports how long one of them takes, and how much of the processors.
func benchmarkStarts(b *testing.B, atOnce int) {
	var took []time.Duration
	var busy time.Duration
	for b.Loop() {
		began := used(b)
		clusters, durations := startTogether(b, atOnce)
		busy += used(b) - began
		took = append(took, durations...)
		b.StopTimer()
		for _, c := range clusters {
			if err := c.Stop(); err != nil {
				b.Error(err)
			}
		}
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds(), "p50-s")
	b.ReportMetric(took[(len(took)*99+99)/100-1].Seconds(), "p99-s")
	b.ReportMetric(busy.Seconds()/float64(len(took)), "cpu-s/start")
}

func startTogether(b *testing.B, n int) ([]*cluster.Cluster, []time.Duration) {
	b.Helper()
	clusters, durations := make([]*cluster.Cluster, n), make([]time.Duration, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			began := time.Now()
			c, err := startToAccount(b.Context())
			if err != nil {
				b.Error(err)
			}
			clusters[i], durations[i] = c, time.Since(began)
		})
	}
	all.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return clusters, durations
}

// used is the processors' time of this process.
func used(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
