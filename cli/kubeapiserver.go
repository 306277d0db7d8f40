package cli

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/controllers"
	"github.com/kogge-dev/kogge/scheduler"
)

// envtestControllers names the variable that turns controllers on where the binary stands in for kube-apiserver: "*" for all and the
// scheduler, or a list as --controllers takes it. They are off without it, since suites that fake statuses would race with them.
const envtestControllers = "KOGGE_ENVTEST_CONTROLLERS"

// newKubeAPIServer makes the API server with the flags of a genuine one. Those that mean nothing here are accepted, and named in the log.
func newKubeAPIServer() *cobra.Command {
	var flags apiserverFlags
	command := newAPIServerWith(&flags, func(command *cobra.Command) error { return runKubeAPIServer(command, flags) })
	command.Use, command.Hidden = "kube-apiserver", true
	command.Short = "Run the API server with the flags of a genuine one"
	command.FParseErrWhitelist.UnknownFlags = true
	return command
}

func runKubeAPIServer(command *cobra.Command, flags apiserverFlags) error {
	logger := newLogger(command.ErrOrStderr(), flags.verbosity)
	if unknown := unknownFlags(command.Flags(), os.Args[1:]); len(unknown) > 0 {
		logger.Warn("flags without effect", "flags", unknown)
	}
	options, err := apiserverOptions(flags)
	if err != nil {
		return err
	}
	options.Logger = logger
	listener, err := net.Listen("tcp", net.JoinHostPort(flags.bindAddress, fmt.Sprint(flags.securePort)))
	if err != nil {
		return fmt.Errorf("--bind-address, --secure-port: %w", err)
	}
	options.Listeners = []net.Listener{listener}
	server, err := apiserver.New(command.Context(), options)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	together := []func(context.Context) error{server.Run}
	if enabled := os.Getenv(envtestControllers); enabled != "" {
		runs, err := envtestComponents(server, options, strings.Split(enabled, ","))
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		together = append(together, runs...)
	}
	return runTogether(command.Context(), together)
}

// envtestComponents are the controllers that are asked for and, with all of them, the scheduler.
func envtestComponents(server *apiserver.Server, options apiserver.Options, enabled []string) ([]func(context.Context) error, error) {
	runs := []func(context.Context) error{whenReady(server, server.Component("controller-manager", func(ctx context.Context) error {
		return controllers.Run(ctx, controllers.Options{Config: cluster.InProcess(server.RoundTripper(cluster.ControllerManager)), Logger: options.Logger,
			RootCA: encodeChain(options.ServingCertificate), Enabled: enabled})
	}))}
	if !slices.Contains(enabled, "*") {
		return runs, nil
	}
	schedule, err := scheduler.New(scheduler.Options{Config: inProcess(server, "system:kube-scheduler"), Logger: options.Logger})
	if err != nil {
		return nil, err
	}
	return append(runs, whenReady(server, server.Component("scheduler", schedule.Run))), nil
}

// whenReady waits for the server before it runs.
func whenReady(server *apiserver.Server, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-server.Ready():
			return run(ctx)
		}
	}
}

// encodeChain is a certificate with those above it, in PEM: whom pods are to trust.
func encodeChain(c tls.Certificate) []byte {
	var out []byte
	for _, der := range c.Certificate {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return out
}

// unknownFlags are the names of the given flags that the set hasn't.
func unknownFlags(known *pflag.FlagSet, arguments []string) []string {
	var out []string
	for _, a := range arguments {
		if name, ok := strings.CutPrefix(a, "--"); ok {
			if name, _, _ = strings.Cut(name, "="); name != "" && known.Lookup(name) == nil {
				out = append(out, name)
			}
		}
	}
	return out
}

// certificateIn gives the serving certificate of a --cert-dir. Where there is none, the made one is left there.
func certificateIn(directory string, make func() (certificate, key []byte, err error)) (tls.Certificate, error) {
	certFile, keyFile := filepath.Join(directory, "apiserver.crt"), filepath.Join(directory, "apiserver.key")
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	if !errors.Is(err, os.ErrNotExist) {
		return certificate, err
	}
	certPEM, keyPEM, err := make()
	if err != nil {
		return tls.Certificate{}, err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return tls.Certificate{}, err
	}
	if err := errors.Join(os.WriteFile(keyFile, keyPEM, 0o600), os.WriteFile(certFile, certPEM, 0o644)); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certPEM, keyPEM)
}
