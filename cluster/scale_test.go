package cluster_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/internal/gcpace"
)

// creators is how many clients create pods at once.
const creators = 32

// BenchmarkNodes adds b.N simulated nodes to a cluster and waits until all are Ready: -benchtime 5000x. It reports
// what an idle kubelet keeps on the heap, with the API server's copies of its Node and Lease.
func BenchmarkNodes(b *testing.B) {
	c, clients := startBench(b, cluster.Options{}, (*cluster.Cluster).RESTConfig)
	before := heap()
	b.ResetTimer()
	addNodes(b, c, clients, b.N)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "nodes/s")
	b.ReportMetric(float64(heap()-before)/1024/float64(b.N), "KiB/node")
	b.ReportMetric(float64(runtime.NumGoroutine())/float64(b.N), "goroutines/node")
}

// BenchmarkPods creates b.N pods on a cluster of a tenth as many nodes, heartbeats on, and waits until all run:
// -benchtime 50000x. The clients are those of a test: without any socket, or over HTTP/2 and TLS, whose both ends then have a part in it.
func BenchmarkPods(b *testing.B) {
	b.Run("InProcess", func(b *testing.B) { benchmarkPods(b, (*cluster.Cluster).InProcessConfig) })
	b.Run("HTTP", func(b *testing.B) { benchmarkPods(b, (*cluster.Cluster).RESTConfig) })
}

func benchmarkPods(b *testing.B, by func(*cluster.Cluster) *rest.Config) {
	c, clients := startBench(b, cluster.Options{}, by)
	addNodes(b, c, clients, max(b.N/10, 1))
	before, goroutines := heap(), runtime.NumGoroutine()
	ctx, running := b.Context(), make(chan struct{})
	w, err := clients.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("status.phase", "Running").String()})
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		defer close(running)
		for seen := 0; seen < b.N; {
			if event := <-w.ResultChan(); event.Type == watch.Added {
				seen++
			} else if event.Object == nil {
				b.Errorf("the watch ended after %d pods", seen)
				return
			}
		}
	}()
	b.ResetTimer()
	createPods(ctx, b, clients, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "created/s")
	<-running
	b.StopTimer()
	w.Stop()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64(heap()-before)/1024/float64(b.N), "KiB/pod")
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/float64(b.N), "goroutines/pod")
	b.ReportMetric(float64(heap())/(1<<20), "MiB")
}

func startBench(b *testing.B, o cluster.Options, by func(*cluster.Cluster) *rest.Config) (*cluster.Cluster, kubernetes.Interface) {
	b.Helper()
	c, err := cluster.Start(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	paced := make(chan error, 1)
	go func() { paced <- gcpace.Run(b.Context()) }() // as kogge server does
	b.Cleanup(func() {
		if err := <-paced; err != nil { // its context has ended
			b.Error(err)
		}
		if err := c.Stop(); err != nil {
			b.Error(err)
		}
	})
	config := by(c)
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	return c, clients
}

// addNodes returns once the nodes are Ready.
func addNodes(b *testing.B, c *cluster.Cluster, clients kubernetes.Interface, n int) {
	b.Helper()
	w, err := clients.CoreV1().Nodes().Watch(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Stop()
	if err := c.AddNodes(n); err != nil {
		b.Fatal(err)
	}
	ready := map[string]bool{}
	for len(ready) < n {
		event := <-w.ResultChan()
		node, ok := event.Object.(*corev1.Node)
		if !ok {
			b.Fatalf("the watch ended after %d nodes", len(ready))
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0 {
				ready[node.Name] = true
			}
		}
	}
}

// createPods creates n pods from several clients at once.
func createPods(ctx context.Context, b *testing.B, clients kubernetes.Interface, n int) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	for range creators {
		group.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				pod := &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i)},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/nothing:1"}}},
				}
				if _, err := clients.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// heap is what is live on the heap, in bytes.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
