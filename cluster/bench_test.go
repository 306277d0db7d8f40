package cluster_test

import (
	"context"
	"sync"
	"testing"

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
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, err := startToAccount(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := c.Stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkStartEight is the same for eight at once.
func BenchmarkStartEight(b *testing.B) {
	for b.Loop() {
		var all sync.WaitGroup
		clusters := make([]*cluster.Cluster, 8)
		for i := range clusters {
			all.Go(func() {
				var err error
				if clusters[i], err = startToAccount(b.Context()); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		b.StopTimer()
		for _, c := range clusters {
			if err := c.Stop(); err != nil {
				b.Error(err)
			}
		}
		b.StartTimer()
	}
}
