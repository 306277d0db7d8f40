package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// probeTimeout bounds each question about a component's health.
const probeTimeout = 20 * time.Second

// probeBody is how much of a component's answer is told, in bytes.
const probeBody = 10 << 10

// remoteComponents are the parts of a control plane and where they say how they are, unless they run in this process: on the
// server's own machine, at the components' default ports.
var remoteComponents = map[string]string{
	"controller-manager": "https://127.0.0.1:10257/healthz",
	"scheduler":          "https://127.0.0.1:10259/healthz",
}

// components knows the parts of the control plane that run in the server's process.
type components struct {
	mu      sync.Mutex
	running map[string]error // nil: it runs
}

// Component wraps the Run of a part of the control plane that shares the server's process, so that its ComponentStatus of the
// name ("scheduler", "controller-manager") tells how it is.
func (s *Server) Component(name string, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		s.components.set(name, nil)
		err := run(ctx)
		s.components.set(name, errors.Join(errors.New("it has ended"), err))
		return err
	}
}

func (c *components) set(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[string]error{}
	}
	c.running[name] = err
}

// get tells of a component of this process how it is; false: it is none.
func (c *components) get(name string) (error, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	err, ok := c.running[name]
	return err, ok
}

// componentStatuses finds out how the parts of the control plane are.
func (s *Server) componentStatuses(ctx context.Context) []resource.Object {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	checks := map[string]func(context.Context) corev1.ComponentCondition{}
	for name, url := range remoteComponents {
		checks[name] = func(ctx context.Context) corev1.ComponentCondition { return askComponent(ctx, url) }
		if err, ok := s.components.get(name); ok {
			checks[name] = func(context.Context) corev1.ComponentCondition { return healthy(err) }
		}
	}
	for i := range max(1, len(s.options.EtcdServers)) {
		checks[fmt.Sprintf("etcd-%d", i)] = func(ctx context.Context) corev1.ComponentCondition { return healthy(s.store.Healthy(ctx)) }
	}
	names := slices.Sorted(maps.Keys(checks))
	out := make([]resource.Object, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			out[i] = &corev1.ComponentStatus{ObjectMeta: metav1.ObjectMeta{Name: name}, Conditions: []corev1.ComponentCondition{checks[name](ctx)}}
		})
	}
	all.Wait()
	return out
}

func healthy(err error) corev1.ComponentCondition {
	if err != nil {
		return corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionFalse, Error: err.Error()}
	}
	return corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}
}

// componentClient trusts anyone: components sign their own certificates, and nothing is told to them.
var componentClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}}

// askComponent asks a component of another process.
func askComponent(ctx context.Context, url string) corev1.ComponentCondition {
	c := corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionFalse}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		c.Status, c.Error = corev1.ConditionUnknown, err.Error()
		return c
	}
	answer, err := componentClient.Do(req)
	if err != nil {
		c.Message = err.Error()
		return c
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, probeBody))
	switch {
	case err != nil:
		c.Message = err.Error()
	case answer.StatusCode < http.StatusOK || answer.StatusCode >= http.StatusBadRequest:
		c.Message = fmt.Sprintf("HTTP probe failed with statuscode: %d", answer.StatusCode)
	default:
		c.Status, c.Message = corev1.ConditionTrue, string(body)
	}
	return c
}
