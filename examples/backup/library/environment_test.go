package backup_test

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kogge-dev/kogge/envtest"
	"github.com/kogge-dev/kogge/examples/backup/operator"
	"github.com/kogge-dev/kogge/examples/backup/suite"
)

func TestBackups(t *testing.T) {
	t.Parallel()
	scheme, err := operator.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	testEnv := &envtest.Environment{
		Scheme:                scheme,
		CRDDirectoryPaths:     []string{filepath.Join("..", "config", "crd")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join("..", "config", "webhook")}},
	}
	config, err := testEnv.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := testEnv.Stop(); err != nil {
			t.Error(err)
		}
	})
	o := testEnv.WebhookInstallOptions
	suite.Run(t, suite.Cluster{
		Config:   config,
		Webhooks: webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: o.LocalServingCertDir},
		Bare:     true,
	})
}
