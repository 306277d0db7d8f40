package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	connections = 4
	workers     = 32
)

// clients are several clients, each on a connection of its own.
type clients []*kubernetes.Clientset

// connect makes clients. A dialer of its own keeps client-go from sharing one connection among them.
func connect(config *rest.Config) (clients, error) {
	var cs clients
	for range connections {
		c := rest.CopyConfig(config)
		c.Dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
		c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
		client, err := kubernetes.NewForConfig(c)
		if err != nil {
			return nil, err
		}
		cs = append(cs, client)
	}
	return cs, nil
}

// each calls a function for every number below n, 32 at a time spread over the connections, and gives the rate per second.
func (cs clients) each(ctx context.Context, n int, do func(ctx context.Context, c *kubernetes.Clientset, i int) error) (float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	began := time.Now()
	for w := range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, cs[w%len(cs)], i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return 0, err
	}
	return float64(n) / took.Seconds(), ctx.Err()
}
