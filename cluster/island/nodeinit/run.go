package nodeinit

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// ReadyDescriptor is the descriptor of a pipe that the supervisor closes when the node's link is there.
const ReadyDescriptor = 3

// Run is the life of a node's first process, after Prepare: it returns when ctx is done, and everything else in
// the node then ends with it. A failure to make the node's inside is returned; a service that fails is restarted.
func Run(ctx context.Context, config Config, logger *slog.Logger) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("node-init must be the first process of its namespace, not number %d", os.Getpid())
	}
	began := time.Now()
	if err := waitForLink(); err != nil {
		return err
	}
	if err := enterRoot(config); err != nil {
		return err
	}
	if err := writeIdentity(config); err != nil {
		return err
	}
	if err := configureNetwork(config); err != nil {
		return err
	}
	if err := writeContainerdSettings(config); err != nil {
		return err
	}
	logger.Info("node is set up", "node", config.Name, "address", config.Address, "after", time.Since(began).Round(time.Millisecond))
	return runServices(ctx, config, logger)
}

// runServices runs everything until ctx is done. containerd and the proxy start at once; the kubelet when the image
// of pods' sandboxes is there, since a pod must not find it missing and back off. The other images may be late: who
// needs one earlier pulls it from the mirror.
func runServices(ctx context.Context, config Config, logger *slog.Logger) error {
	children := newReaper()
	group, ctx := errgroup.WithContext(ctx)
	keep := func(kept service) {
		group.Go(func() error {
			children.keep(ctx, kept, logger)
			return nil
		})
	}
	group.Go(func() error {
		children.run(ctx)
		return nil
	})
	keep(containerdService(config))
	keep(proxyService(config))
	group.Go(func() error {
		began := time.Now()
		since := func() time.Duration { return time.Since(began).Round(time.Millisecond) }
		if err := waitForSocket(ctx, containerdSocket); err != nil {
			return err
		}
		logger.Info("containerd answers", "after", since())
		importOrLog := func(archive string) {
			// Pods whose images are missing say so themselves; the node is of use without them.
			if err := children.importImages(ctx, archive); err != nil && ctx.Err() == nil {
				logger.Error("images were not imported", "error", err)
			}
		}
		importOrLog(sandboxImage)
		logger.Info("the kubelet may start", "after", since())
		keep(kubeletService(config))
		importOrLog(moreImages)
		logger.Info("images are imported", "after", since())
		return nil
	})
	err := group.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// containerdService is the container runtime. What is on the bridge, the mirror, it reaches directly; all else by the
// proxy for pulls.
func containerdService(config Config) service {
	made := service{name: "containerd", command: []string{"containerd", "--config", containerdConfig}}
	if config.PullProxy != "" {
		made.environment = []string{"HTTPS_PROXY=" + config.PullProxy, "NO_PROXY=" + config.Gateway.String()}
	}
	return made
}

// proxyService is the proxy, with the pods' network.
func proxyService(config Config) service {
	return service{name: "proxy", command: []string{
		"kogge", "proxy",
		"--kubeconfig=/etc/kubernetes/proxy.kubeconfig",
		"--hostname-override=" + config.Name,
		"--cluster-cidr=" + config.PodRange.String(),
		"--pod-network",
		"--cni-conf-dir=" + networkConfigs,
	}}
}

func kubeletService(config Config) service {
	address := config.Address.Addr().String()
	return service{name: "kubelet", command: []string{
		"kogge", "kubelet",
		"--kubeconfig=/etc/kubernetes/kubelet.kubeconfig",
		"--hostname-override=" + config.Name,
		"--node-ip=" + address,
		"--root-dir=/var/lib/kubelet",
		"--container-runtime-endpoint=unix://" + containerdSocket,
		"--address=" + address,
		"--client-ca-file=/etc/kubernetes/ca.crt",
		"--tls-cert-file=/etc/kubernetes/kubelet.crt",
		"--tls-private-key-file=/etc/kubernetes/kubelet.key",
		"--cluster-domain=" + config.Domain,
	}}
}

// waitForLink reads from the supervisor's pipe until the supervisor closes it, or ends.
func waitForLink() error {
	pipe := os.NewFile(ReadyDescriptor, "pipe from the supervisor")
	if pipe == nil {
		return fmt.Errorf("descriptor %d is not open: node-init is started by the supervisor", ReadyDescriptor)
	}
	defer pipe.Close()
	if _, err := io.Copy(io.Discard, pipe); err != nil {
		return fmt.Errorf("wait for the network link: %w", err)
	}
	return nil
}
