package cluster

import "github.com/kogge-dev/kogge/cluster/stages"

// playStages has objects live as Options.Stages says, until the cluster stops.
func (c *Cluster) playStages() error {
	if len(c.options.Stages) == 0 {
		return nil
	}
	player, err := stages.New(stages.Options{
		Stages: c.options.Stages, Config: c.as("stages", "system:masters"), Node: c.options.NodeTemplate.Find,
		Clock: c.options.Clock, Logger: c.log.With("component", "stages"),
	})
	if err != nil {
		return err
	}
	c.group.Go(func() error { return player.Run(c.ctx) })
	return nil
}
