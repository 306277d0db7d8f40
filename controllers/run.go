package controllers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/internal/patient"
)

// Options is what Run needs.
type Options struct {
	// Config reaches the API server.
	Config *rest.Config
	Logger *slog.Logger
	// RootCA is the PEM bundle that is published to every namespace.
	RootCA []byte
	// SigningCA is the authority that signs approved CertificateSigningRequests for the signers of
	// kubernetes.io; without a key nothing is signed. Its Leaf is set.
	SigningCA tls.Certificate
	// ClusterCIDR is the range that pods get their addresses from; the zero prefix
	// allocates nothing to nodes.
	ClusterCIDR netip.Prefix
	// NodeCIDRMaskSize is the length in bits of the prefix that one node gets; 0 means
	// upstream's default of 24 for IPv4 and 64 for IPv6.
	NodeCIDRMaskSize int
	// Enabled says which controllers run, in upstream's --controllers syntax; nil: all.
	Enabled []string
	// LeaderElection lets only one of several processes work at a time.
	LeaderElection bool
	// Clock is real time unless a test says otherwise.
	Clock clock.WithTicker
}

// Run runs the controllers until ctx ends, waiting for the API server whenever it isn't
// there. It returns nil then, and an error when it could not start or lost the lead.
func Run(ctx context.Context, options Options) error {
	if options.Config == nil || options.Logger == nil {
		return errors.New("controllers need a Config and a Logger")
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	chosen, err := selected(all, options.Enabled)
	if err != nil {
		return err
	}
	options.Config = patient.Config(ctx, options.Config, options.Logger)
	m, err := newManager(ctx, options)
	switch {
	case ctx.Err() != nil:
		return nil // told to stop while it waited for the API server
	case err != nil:
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	client, err := kubernetes.NewForConfig(unlimited(options.Config))
	if err != nil {
		return fmt.Errorf("make a client for events: %w", err)
	}
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	env := component.Environment{
		Manager: m, Logger: options.Logger, Clock: options.Clock,
		Events: func(name string) record.EventRecorder {
			return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name})
		},
		RootCA: options.RootCA, SigningCA: options.SigningCA, ClusterCIDR: options.ClusterCIDR, NodeCIDRMaskSize: options.NodeCIDRMaskSize,
	}
	if err := addInTurn(env, chosen); err != nil {
		return err
	}
	if err := m.Start(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("run controllers: %w", err)
	}
	return nil
}
