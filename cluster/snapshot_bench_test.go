package cluster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"golang.org/x/sync/errgroup"

	"github.com/kogge-dev/kogge/cluster"
)

// full starts a cluster with 10,000 objects of about a KiB.
func full(b *testing.B) *cluster.Cluster {
	b.Helper()
	c, err := cluster.Start(b.Context(), cluster.Options{Controllers: []string{}, WithoutScheduler: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Stop(); err != nil {
			b.Error(err)
		}
	})
	if err := fill(b.Context(), c, "full", 10_000); err != nil {
		b.Fatal(err)
	}
	return c
}

// fill makes n ConfigMaps.
func fill(ctx context.Context, c *cluster.Cluster, prefix string, n int) error {
	clients, err := kubernetes.NewForConfig(c.InProcessConfig())
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(16)
	for i := range n {
		g.Go(func() error {
			_, err := clients.CoreV1().ConfigMaps("default").Create(ctx, configMap(fmt.Sprintf("%s-%d", prefix, i), strings.Repeat("x", 700)), metav1.CreateOptions{})
			return err
		})
	}
	return g.Wait()
}

// BenchmarkSnapshot takes one of 10,000 objects.
func BenchmarkSnapshot(b *testing.B) {
	c := full(b)
	for b.Loop() {
		if _, err := c.Snapshot(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFork is of 10,000 objects, until the fork is ready.
func BenchmarkFork(b *testing.B) {
	c := full(b)
	for b.Loop() {
		fork, err := c.Fork(b.Context(), cluster.Options{Controllers: []string{}, WithoutScheduler: true})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := fork.Stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkRestore takes back 100 changes among 10,000 objects.
func BenchmarkRestore(b *testing.B) {
	c := full(b)
	snapshot, err := c.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		if err := fill(b.Context(), c, "more", 100); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := c.Restore(b.Context(), snapshot); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRestoreAll brings back 10,000 objects that are all gone.
func BenchmarkRestoreAll(b *testing.B) {
	c := full(b)
	clients, err := kubernetes.NewForConfig(c.InProcessConfig())
	if err != nil {
		b.Fatal(err)
	}
	snapshot, err := c.Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		if err := clients.CoreV1().ConfigMaps("default").DeleteCollection(b.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := c.Restore(b.Context(), snapshot); err != nil {
			b.Fatal(err)
		}
	}
}
