package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/cluster/fleet"
	"github.com/kogge-dev/kogge/cluster/pki"
	"github.com/kogge-dev/kogge/cluster/stages"
)

// simulation runs the simulated nodes that a file asks for beside an API server.
type simulation struct {
	file  string
	fleet atomic.Pointer[fleet.Fleet] // nil until there was a node
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dial reaches the kubelets of simulated nodes in memory, and others by next.
func (s *simulation) dial(next dialer) dialer {
	if next == nil {
		next = (&net.Dialer{}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if f := s.fleet.Load(); f != nil {
			if connection, ours, err := f.Dial(ctx, network, address); ours {
				return connection, err
			}
		}
		return next(ctx, network, address)
	}
}

// run keeps as many nodes as the file says, and reads it again at each SIGHUP.
func (s *simulation) run(ctx context.Context, server *apiserver.Server, ca *pki.CA, logger *slog.Logger) error {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGHUP)
	defer signal.Stop(changed)
	group, ctx := errgroup.WithContext(ctx)
	start := func(c fleet.Configuration) (*fleet.Fleet, error) {
		rules, err := c.PodRules()
		if err != nil {
			return nil, err
		}
		f, err := fleet.New(fleet.Options{
			Config: func(user string, groups ...string) *rest.Config {
				return cluster.InProcess(server.RoundTripper(apiserver.Identity{Name: user, Groups: groups}))
			},
			CA: ca, Template: c.Template, Rules: rules, WithoutPods: stages.OwnPods(c.Stages), Logger: logger,
		})
		if err != nil {
			return nil, err
		}
		player, err := stages.New(stages.Options{
			Stages: c.Stages, Config: cluster.InProcess(server.RoundTripper(apiserver.Identity{Name: "stages", Groups: []string{"system:masters"}})),
			Node: c.Template.Find, Logger: logger,
		})
		if err != nil {
			return nil, err
		}
		group.Go(func() error { return player.Run(ctx) })
		s.fleet.Store(f)
		group.Go(func() error { return f.Run(ctx) })
		return f, nil
	}
	group.Go(func() error {
		for {
			if err := s.follow(ctx, start); err != nil && ctx.Err() == nil {
				logger.Error("simulated nodes", "err", err) // the file is the user's to mend; the rest goes on
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return nil
			}
		}
	})
	return group.Wait()
}

// follow makes it as many nodes as the file says.
func (s *simulation) follow(ctx context.Context, start func(fleet.Configuration) (*fleet.Fleet, error)) error {
	c, err := fleet.ReadConfiguration(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f := s.fleet.Load()
	if f == nil && c.Nodes == 0 && len(c.Stages) == 0 {
		return nil
	}
	fresh := f == nil
	if fresh {
		if f, err = start(c); err != nil {
			return err
		}
	}
	if err := f.Scale(ctx, c.Nodes); err != nil || !fresh {
		return err
	}
	return f.Prune(ctx)
}

// reachable has the server reach simulated nodes.
func (s *simulation) reachable(options *apiserver.Options) {
	if s.file != "" {
		options.Kubelet.Dial = s.dial(options.Kubelet.Dial)
	}
}

// simulationConfiguration is what the user's files say, or else what is usual.
func simulationConfiguration(file string, stageFiles []string, clusterName string) (fleet.Configuration, error) {
	var c fleet.Configuration
	if file != "" {
		var err error
		if c, err = fleet.ReadConfiguration(file); err != nil {
			return c, err
		}
	}
	more, err := stages.Load(stageFiles...)
	if err != nil {
		return c, err
	}
	c.Stages = append(c.Stages, more...)
	c.Template.Prefix = cmp.Or(c.Template.Prefix, clusterName+"-simulated-")
	return c, nil
}
