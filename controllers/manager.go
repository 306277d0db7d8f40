package controllers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

// shutdownTimeout is how long passes in progress may take to finish once the context
// has ended.
const shutdownTimeout = 5 * time.Second

// newManager makes the one manager that all controllers share: one cache, one client.
// Nothing of it is global to the process. Its client reads its own writes, so that no
// controller decides on a cache that hasn't seen yet what that controller did last.
func newManager(ctx context.Context, options Options) (manager.Manager, error) {
	logger := logr.FromSlogHandler(options.Logger.Handler())
	m, err := manager.New(unlimited(options.Config), manager.Options{
		Scheme:                  scheme.Scheme,
		Logger:                  logger,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout: ptr.To(shutdownTimeout),
		LeaderElection:          options.LeaderElection,
		LeaderElectionID:        "kube-controller-manager",
		LeaderElectionNamespace: "kube-system",
		Cache:                   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		NewCache:                newCache(logger),
		Client: client.Options{Log: logger, Cache: &client.CacheOptions{
			EnableReadYourWritesConsistency: ptr.To(true),
		}},
		Controller:  config.Controller{SkipNameValidation: ptr.To(true), Logger: logger},
		BaseContext: func() context.Context { return logr.NewContext(context.Background(), logger) },
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	if err := component.AddIndexes(ctx, m); err != nil {
		return nil, err
	}
	return m, nil
}

// unlimited is config without client-side rate limits: the server knows better how
// much it can take, and a controller that is held back here holds back its users. Warnings
// are for people; that Endpoints are deprecated isn't news to those who keep them.
func unlimited(c *rest.Config) *rest.Config {
	c = rest.CopyConfig(c)
	c.QPS = -1
	c.Burst = 0
	c.WarningHandler = rest.NoWarnings{}
	c.Wrap(func(inner http.RoundTripper) http.RoundTripper { return applyTransport{inner} })
	if c.UserAgent == "" {
		c.UserAgent = "kube-controller-manager"
	}
	return c
}
