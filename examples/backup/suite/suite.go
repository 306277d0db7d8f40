package suite

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/kogge-dev/kogge/examples/backup/operator"
)

// Cluster is where the suite runs.
type Cluster struct {
	// Config is an administrator's.
	Config *rest.Config
	// Webhooks says where the API server looks for the operator's webhooks.
	Webhooks webhook.Options
	// Bare says that nothing but an API server runs: the suite plays the controllers of Deployments and Jobs.
	Bare bool
}

// Suite is a running operator with a client.
type Suite struct {
	client.Client
	Vault *Vault

	bare   bool
	config *rest.Config
}

// Start starts the operator; it ends with the test.
func Start(t *testing.T, c Cluster) *Suite {
	t.Helper()
	vault := &Vault{}
	m, err := operator.New(c.Config, c.Webhooks, vault)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator: %v", err)
		}
	})
	Eventually(t, "the webhooks are served", func() error { return m.GetWebhookServer().StartedChecker()(nil) })
	// A client of the suite's own: the manager's reads from a cache, which is late.
	own, err := client.New(c.Config, client.Options{Scheme: m.GetScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return &Suite{Client: own, Vault: vault, bare: c.Bare, config: c.Config}
}

// Run runs the suite.
func Run(t *testing.T, c Cluster) {
	s := Start(t, c)
	// The group ends before the operator does.
	t.Run("backups", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *Suite){
			"defaults": defaults, "refusals": refusals, "warnings": warnings, "versions": versions, "owned": owned, "conditions": conditions, "finalizer": finalizer,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, s)
			})
		}
	})
}

// Namespace makes a namespace for the test alone, and gives its name.
func (s *Suite) Namespace(t *testing.T) string {
	t.Helper()
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "backup-"}}
	if err := s.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return n.Name
}
