package controllers_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/controllers"
)

// gate is a transport to a server that can't be reached while the gate is shut.
type gate struct {
	inner http.RoundTripper
	open  atomic.Bool
	// refused gets one value when somebody has been turned away.
	refused chan struct{}
}

func newGate(inner http.RoundTripper) *gate {
	return &gate{inner: inner, refused: make(chan struct{}, 1)}
}

func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	if g.open.Load() {
		return g.inner.RoundTrip(request)
	}
	select {
	case g.refused <- struct{}{}:
	default:
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// lines is a place for log lines that may be read while they are written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(of string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), of)
}

// stopsAtOnce ends ctx and expects Run to follow.
func stopsAtOnce(t *testing.T, cancel context.CancelFunc, ended <-chan error) {
	t.Helper()
	cancel()
	begun := time.Now()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("run: %v", err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("took %v to stop", took)
		}
	case <-time.After(patience):
		t.Fatal("doesn't stop")
	}
}

// Controllers may be started before the API server, and stopped before it comes.
func TestControllersStopWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	shut, log := newGate(nil), &lines{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- controllers.Run(ctx, controllers.Options{Config: cluster.InProcess(shut), Logger: slog.New(slog.NewTextHandler(log, nil))})
	}()
	<-shut.refused
	<-shut.refused
	if got := log.count("waiting for the API server"); got != 1 {
		t.Errorf("said %d times what it waits for", got)
	}
	stopsAtOnce(t, cancel, ended)
}

// Controllers wait for a server that comes late, and for one that comes back.
func TestControllersWaitForTheServer(t *testing.T) {
	t.Parallel()
	c, err := cluster.Start(t.Context(), cluster.Options{Controllers: []string{}, WithoutScheduler: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	client, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, client: client}
	between := newGate(c.InProcessConfig().Transport)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- controllers.Run(ctx, controllers.Options{Config: cluster.InProcess(between), Logger: slog.New(slog.DiscardHandler)})
	}()
	for _, name := range []string{"first", "second"} {
		between.open.Store(false)
		w.must(client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
		<-between.refused
		between.open.Store(true)
		w.eventually(func(ctx context.Context) string {
			if _, err := client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{}); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	between.open.Store(false)
	stopsAtOnce(t, cancel, ended)
}
