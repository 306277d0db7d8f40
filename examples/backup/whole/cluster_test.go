package backup_test

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/examples/backup/suite"
)

// start gives a cluster in which everything runs, with the operator's definitions and webhooks.
func start(t *testing.T, o cluster.Options) suite.Cluster {
	t.Helper()
	o.Nodes = 2
	c := cluster.ForTest(t, o)
	if err := c.InstallCRDs(t.Context(), filepath.Join("..", "config", "crd")); err != nil {
		t.Fatal(err)
	}
	server, err := c.InstallWebhooks(t.Context(), filepath.Join("..", "config", "webhook"))
	if err != nil {
		t.Fatal(err)
	}
	return suite.Cluster{
		Config:   c.RESTConfig(),
		Webhooks: webhook.Options{Host: server.Host, Port: server.Port, CertDir: server.CertDir},
	}
}

// TestBackups is the suite of the other two ways; here nobody plays the controllers of Deployments and Jobs.
func TestBackups(t *testing.T) {
	t.Parallel()
	suite.Run(t, start(t, cluster.Options{}))
}
