package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/controllers"
)

// TB is what ForTest needs of a testing.TB.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Output() io.Writer
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// ForTest starts a cluster that ends with the test, and returns once pods can be made in namespace default: with the controller of ServiceAccounts
// left out, as Start does. Nodes may follow. Unless the options have a Logger, the test's output tells what the components warn of: what
// they do would bury what the test says.
func ForTest(t TB, o Options) *Cluster {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start a cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop the cluster: %v", err)
		}
	})
	if controllers.Enabled(o.Controllers, "serviceaccount-controller") {
		if err := c.awaitAccount(t.Context()); err != nil {
			t.Fatalf("start a cluster: %v", err)
		}
	}
	return c
}

// awaitAccount waits for the ServiceAccount without which no pod can be made in namespace default.
func (c *Cluster) awaitAccount(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)() // a cluster that ended makes none
	clients, err := kubernetes.NewForConfig(c.InProcessConfig())
	if err != nil {
		return err
	}
	w, err := clients.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, "default").String()})
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if _, ok := event.Object.(*corev1.ServiceAccount); ok {
			return nil
		}
	}
	return errors.New("the default ServiceAccount did not come")
}
