package operator

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
	"github.com/kogge-dev/kogge/examples/backup/api/v1beta1"
	"github.com/kogge-dev/kogge/examples/backup/controller"
	"github.com/kogge-dev/kogge/examples/backup/webhooks"
)

// Scheme knows client-go's kinds and the operator's.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	return s, errors.Join(scheme.AddToScheme(s), v1.AddToScheme(s), v1beta1.AddToScheme(s))
}

// New gives the operator as a manager that can be started. Its webhooks, the conversion among them, are served as the options say.
func New(config *rest.Config, hooks webhook.Options, vault controller.Vault) (ctrl.Manager, error) {
	s, err := Scheme()
	if err != nil {
		return nil, err
	}
	m, err := ctrl.NewManager(config, ctrl.Options{Scheme: s, WebhookServer: webhook.NewServer(hooks), Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return nil, err
	}
	if err := ctrl.NewWebhookManagedBy(m, &v1.Backup{}).WithDefaulter(webhooks.Defaulter{}).WithValidator(webhooks.Validator{}).Complete(); err != nil {
		return nil, err
	}
	return m, (&controller.Reconciler{Client: m.GetClient(), Vault: vault}).SetupWithManager(m)
}
