package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
	"github.com/kogge-dev/kogge/tools/genuine"
)

// ours is a control plane of our own in this process, with the same two nodes.
type ours struct {
	dir string

	cluster   *cluster.Cluster
	stopNodes func()
}

func (o *ours) start(ctx context.Context) (err error) {
	if o.cluster, err = cluster.Start(ctx, cluster.Options{Dir: o.dir}); err != nil {
		return err
	}
	o.stopNodes, err = startNodes(o.cluster.RESTConfig(), 2)
	return err
}

func (o *ours) stop() {
	if o.stopNodes != nil {
		o.stopNodes()
		o.stopNodes = nil
	}
	if o.cluster != nil {
		if err := o.cluster.Stop(); err != nil {
			fmt.Println("   our control plane ended with:", err)
		}
		o.cluster = nil
	}
}

// genuineSide is a genuine control plane with our nodes.
type genuineSide struct {
	genuine.ControlPlane
	stopNodes func()
}

func (g *genuineSide) start(ctx context.Context) (err error) {
	if err := g.Start(ctx); err != nil {
		return err
	}
	g.stopNodes, err = startNodes(g.Config(), 2)
	return err
}

func (g *genuineSide) stop() {
	if g.stopNodes != nil {
		g.stopNodes()
		g.stopNodes = nil
	}
	g.End()
}

// startNodes runs our kubelets, on simulated runtimes, against a control plane.
func startNodes(config *rest.Config, n int) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, n)
	running := 0
	stop = func() {
		cancel()
		for range running {
			<-done
		}
	}
	for i := range n {
		runtime, err := simulated.New(simulated.Options{})
		if err != nil {
			stop()
			return nil, err
		}
		k, err := kubelet.New(kubelet.Options{
			NodeName: fmt.Sprintf("node-%d", i), Config: config, Runtime: runtime, Images: runtime.Images(), NodeIP: netip.MustParseAddr(fmt.Sprintf("127.0.1.%d", i+1)),
			Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110")},
			Logger:   slog.New(slog.DiscardHandler),
		})
		if err != nil {
			stop()
			return nil, err
		}
		running++
		go func() {
			_ = k.Run(ctx) // it ends with its context
			done <- struct{}{}
		}()
	}
	return stop, nil
}

// client is an HTTP client with a configuration's credentials.
func client(config *rest.Config) (*http.Client, error) {
	c, err := rest.HTTPClientFor(config)
	if err == nil {
		c.Timeout = 30 * time.Second
	}
	return c, err
}

func get(ctx context.Context, c *http.Client, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %.200s", url, resp.Status, b)
	}
	return b, err
}
