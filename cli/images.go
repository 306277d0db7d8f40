package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/kogge-dev/kogge/images/mirror"
	"github.com/kogge-dev/kogge/images/pullproxy"
	"github.com/kogge-dev/kogge/internal/netns"
)

// imageServers are what nodes without a way to the outside get their images from: the mirror of archives, and the
// proxy to registries. Each is served only where its flag asks for it.
func imageServers(flags serverFlags, logger *slog.Logger) ([]func(context.Context) error, error) {
	if flags.nodeNamespace == "" {
		return nil, nil
	}
	var servers []func(context.Context) error
	add := func(port int, handler http.Handler) {
		servers = append(servers, func(ctx context.Context) error { return serveInside(ctx, flags, port, handler) })
	}
	if flags.imageMirrorDir != "" {
		add(flags.imageMirrorPort, mirror.New(flags.imageMirrorDir, logger))
	}
	if flags.pullTokenFile != "" {
		token, err := os.ReadFile(flags.pullTokenFile)
		if err != nil {
			return nil, fmt.Errorf("--pull-proxy-token-file: %w", err)
		}
		add(flags.pullPort, pullproxy.New(pullproxy.Options{Token: string(bytes.TrimSpace(token)), Logger: logger}))
	}
	return servers, nil
}

// serveInside serves HTTP in the nodes' network namespace until ctx is done.
func serveInside(ctx context.Context, flags serverFlags, port int, handler http.Handler) error {
	address := net.JoinHostPort(flags.advertiseAddress, fmt.Sprint(port))
	listener, err := netns.Open(flags.nodeNamespace).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve images to nodes: %w", err)
	}
	serving := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	// Whoever pulls right now tries again.
	stop := context.AfterFunc(ctx, func() { serving.Close() })
	defer stop()
	if err := serving.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve images to nodes: %w", err)
	}
	return nil
}
