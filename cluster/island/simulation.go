package island

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/cluster/fleet"
	"github.com/kogge-dev/kogge/cluster/island/process"
)

// simulationFile says which simulated nodes there are to be: the server reads it when it starts, and at SIGHUP.
func (d Directory) simulationFile() string { return d.path("simulation.json") }

// Simulation reads which simulated nodes there are to be; a cluster without the file has none.
func (d Directory) Simulation() (fleet.Configuration, error) {
	c, err := fleet.ReadConfiguration(d.simulationFile())
	if errors.Is(err, fs.ErrNotExist) {
		return fleet.Configuration{}, nil
	}
	return c, err
}

// ScaleSteps are the steps that change the number of simulated nodes, and wait for them; wait 0: not at all.
func ScaleSteps(directory Directory, number int, wait time.Duration) []Step {
	steps := []Step{{fmt.Sprintf("Asking for %d simulated nodes", number), func(context.Context) error {
		c, err := directory.Simulation()
		if err != nil {
			return err
		}
		spec, err := directory.Spec()
		if err != nil {
			return err
		}
		if c.Template.Prefix == "" {
			c.Template.Prefix = spec.Name + "-simulated-"
		}
		c.Nodes = number
		if err := c.Write(directory.simulationFile()); err != nil {
			return err
		}
		return tellServer(directory)
	}}}
	if wait > 0 {
		steps = append(steps, Step{"Waiting for them", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			return waitForSimulated(ctx, directory)
		}})
	}
	return steps
}

// tellServer has the server read the file. One that doesn't run reads it when it starts.
func tellServer(directory Directory) error {
	record, err := process.Load(directory.recordFile("server"))
	if err != nil {
		return err
	}
	held, err := record.Open()
	if err != nil || held == nil {
		return err
	}
	return errors.Join(held.Signal(unix.SIGHUP), held.Close())
}

// waitForSimulated waits until exactly the simulated nodes that are asked for are there and ready.
func waitForSimulated(ctx context.Context, directory Directory) error {
	client, err := adminClient(directory)
	if err != nil {
		return err
	}
	c, err := directory.Simulation()
	if err != nil {
		return err
	}
	return eventually(ctx, func() error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return fmt.Errorf("list nodes: %w", err)
		}
		there, ready := countSimulated(c, nodes.Items)
		if there != c.Nodes || ready != c.Nodes {
			return fmt.Errorf("of %d simulated nodes %d are there and %d ready (see %s)", c.Nodes, there, ready, directory.logFile("server"))
		}
		return nil
	})
}

// countSimulated counts the fleet's nodes, and those of them that are ready.
func countSimulated(c fleet.Configuration, nodes []corev1.Node) (there, ready int) {
	for i := range nodes {
		if !c.Template.Owns(nodes[i].Name) {
			continue
		}
		there++
		for _, condition := range nodes[i].Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return there, ready
}
