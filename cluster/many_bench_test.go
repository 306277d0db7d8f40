package cluster_test

import (
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
)

const (
	// many clusters run at the same time in one process.
	many = 50
	// watches are open when a cluster is stopped.
	watches = 100
)

// BenchmarkFifty starts fifty clusters at once. It reports what one of them, idle, keeps on the heap.
func BenchmarkFifty(b *testing.B) {
	for b.Loop() {
		before, goroutines := heap(), runtime.NumGoroutine()
		clusters, _ := startTogether(b, many)
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/(1<<20)/many, "MiB/cluster")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/many, "goroutines/cluster")
		for _, c := range clusters {
			if err := c.Stop(); err != nil {
				b.Error(err)
			}
		}
		b.StartTimer()
	}
}

// BenchmarkStop stops a cluster with a hundred open watches.
func BenchmarkStop(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := watched(b)
		b.StartTimer()
		if err := c.Stop(); err != nil {
			b.Error(err)
		}
	}
}

// watched starts a cluster and opens watches that its Stop ends.
func watched(b *testing.B) *cluster.Cluster {
	b.Helper()
	c, err := startToAccount(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		b.Fatal(err)
	}
	for range watches {
		w, err := clients.CoreV1().ConfigMaps("default").Watch(b.Context(), metav1.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(w.Stop)
	}
	return c
}
