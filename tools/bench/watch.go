package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	watchers = 100
	// watchedWrites are made as fast as they go, paced ones one after the other.
	watchedWrites = 2000
	pacedWrites   = 200
)

// open are watches whose frames are counted, not decoded.
type open struct {
	streams []io.ReadCloser
	counts  []atomic.Int64
	arrived chan struct{} // a frame arrived somewhere
	wg      sync.WaitGroup
}

// openWatches opens n watches of a path, spread over connections.
func openWatches(ctx context.Context, config *rest.Config, path string, n int) (*open, error) {
	cs, err := connect(config)
	if err != nil {
		return nil, err
	}
	o := &open{counts: make([]atomic.Int64, n), arrived: make(chan struct{}, 1)}
	for i := range n {
		stream, err := cs[i%len(cs)].CoreV1().RESTClient().Get().AbsPath(path).Param("watch", "true").Stream(ctx)
		if err != nil {
			o.close()
			return nil, err
		}
		o.streams = append(o.streams, stream)
		o.wg.Go(func() { o.count(i, stream) })
	}
	return o, nil
}

func (o *open) count(i int, stream io.Reader) {
	lines := bufio.NewReaderSize(stream, 64<<10)
	for {
		_, err := lines.ReadSlice('\n')
		if err == bufio.ErrBufferFull { //nolint:errorlint // returned as it is
			continue
		}
		if err != nil {
			return // closed
		}
		o.counts[i].Add(1)
		select {
		case o.arrived <- struct{}{}:
		default:
		}
	}
}

func (o *open) close() {
	for _, s := range o.streams {
		_ = s.Close() // only read
	}
	o.wg.Wait()
}

// await waits until every watch has n frames.
func (o *open) await(ctx context.Context, n int64) error {
	for {
		done := true
		for i := range o.counts {
			done = done && o.counts[i].Load() >= n
		}
		if done {
			return nil
		}
		select {
		case <-o.arrived:
		case <-time.After(30 * time.Second):
			return fmt.Errorf("watches did not get %d events", n)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watches writes ConfigMaps while a hundred watch them.
func watches(ctx context.Context, s side, cs clients, add func(row, string, float64)) error {
	o, err := openWatches(ctx, s.config, "/api/v1/namespaces/watched/configmaps", watchers)
	if err != nil {
		return err
	}
	defer o.close()
	// The root certificate's ConfigMap is there from the start.
	if err := o.await(ctx, 1); err != nil {
		return err
	}
	create := func(ctx context.Context, c *kubernetes.Clientset, name string) error {
		_, err := c.CoreV1().ConfigMaps("watched").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "1"}}, metav1.CreateOptions{})
		return err
	}
	var waits []time.Duration
	for i := range pacedWrites {
		began := time.Now()
		if err := create(ctx, cs[0], fmt.Sprintf("paced-%d", i)); err != nil {
			return err
		}
		if err := o.await(ctx, int64(i)+2); err != nil {
			return err
		}
		waits = append(waits, time.Since(began))
	}
	began := time.Now()
	if _, err := cs.each(ctx, watchedWrites, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		return create(ctx, c, fmt.Sprintf("many-%d", i))
	}); err != nil {
		return err
	}
	if err := o.await(ctx, pacedWrites+watchedWrites+1); err != nil {
		return err
	}
	add("watch: 100 watchers, events delivered", "/s", watchers*watchedWrites/time.Since(began).Seconds())
	slices.Sort(waits)
	add("watch: p99 from write to last watcher", "ms", float64(waits[len(waits)*99/100].Microseconds())/1000)
	return nil
}
