package envtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/kogge-dev/kogge/cluster"
)

// Environment variables, and what holds without them.
const (
	envUseExistingCluster = "USE_EXISTING_CLUSTER"
	envStartTimeout       = "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"
	envAttachOutput       = "KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT"

	defaultStartTimeout = 20 * time.Second
	// pollInterval is how often is asked whether what was installed is served: the server needs milliseconds.
	pollInterval = 5 * time.Millisecond
)

// Environment is a control plane for a test, with what is installed in it.
type Environment struct {
	// ControlPlane takes flags and addresses before Start.
	ControlPlane ControlPlane
	// Scheme says which kinds have conversion webhooks; nil: client-go's.
	Scheme *runtime.Scheme
	// Config is the administrator's, after Start. With an existing cluster, that cluster's.
	Config *rest.Config
	// KubeConfig is Config as the content of a file.
	KubeConfig []byte

	CRDInstallOptions     CRDInstallOptions
	WebhookInstallOptions WebhookInstallOptions
	// ErrorIfCRDPathMissing makes a missing path an error.
	ErrorIfCRDPathMissing bool
	// CRDs are installed besides those of CRDInstallOptions.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// CRDDirectoryPaths are read besides those of CRDInstallOptions.
	CRDDirectoryPaths []string

	// DownloadBinaryAssets and what belongs to it have no effect: there are no binaries.
	DownloadBinaryAssets         bool
	DownloadBinaryAssetsVersion  string
	DownloadBinaryAssetsIndexURL string
	// BinaryAssetsDirectory is where kubectl is looked for, after $TEST_ASSET_KUBECTL and $KUBEBUILDER_ASSETS.
	BinaryAssetsDirectory string

	// UseExistingCluster takes the cluster that the client configuration names, instead of starting one.
	UseExistingCluster *bool
	// ControlPlaneStartTimeout bounds Start.
	ControlPlaneStartTimeout time.Duration
	// ControlPlaneStopTimeout has no effect: Stop ends open watches and returns.
	ControlPlaneStopTimeout time.Duration
	// AttachControlPlaneOutput shows the control plane's log.
	AttachControlPlaneOutput bool

	// Controllers says which controllers run, in the syntax of kube-controller-manager's --controllers: "*" for all, "name", or "-name"
	// for not that one. Nil: none. With "*" the scheduler runs too.
	Controllers []string
	// Nodes is how many simulated nodes there are; if any, the scheduler runs.
	Nodes int
	// Clock is the time that the cluster sees, such as cluster.NewClock's, which the test moves; nil: real time.
	Clock clock.WithTickerAndDelayedExecution
	// From is what the cluster begins with: a snapshot of another; nil: nothing.
	From *cluster.Snapshot
	// Requests is how many of the last requests Cluster().Requests gives; 0: none.
	Requests int
}

// Start starts the control plane and installs what is to be installed.
func (te *Environment) Start() (*rest.Config, error) {
	if err := te.connect(); err != nil {
		return nil, err
	}
	if len(te.KubeConfig) == 0 {
		content, err := encodeKubeconfig(te.Config)
		if err != nil {
			return nil, err
		}
		te.KubeConfig = content
	}
	if te.Scheme == nil {
		te.Scheme = scheme.Scheme
	}
	if err := te.install(); err != nil {
		return te.Config, err
	}
	return te.Config, nil
}

// connect makes sure that there is a cluster.
func (te *Environment) connect() error {
	if te.existing() {
		if te.Config != nil {
			return nil
		}
		found, err := config.GetConfig()
		if err != nil {
			return fmt.Errorf("unable to get configuration for existing cluster: %w", err)
		}
		te.Config = found
		return nil
	}
	timeout, err := te.startTimeout()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if os.Getenv(envAttachOutput) == "true" {
		te.AttachControlPlaneOutput = true
	}
	te.ControlPlane.kubectlDirectory = te.BinaryAssetsDirectory
	if err := te.ControlPlane.start(ctx, cluster.Options{Controllers: te.Controllers, Nodes: te.Nodes, Clock: te.Clock, From: te.From, Requests: te.Requests}, te.AttachControlPlaneOutput); err != nil {
		return fmt.Errorf("unable to start control plane itself: %w", err)
	}
	te.Config = te.ControlPlane.cluster.RESTConfig()
	te.Config.QPS, te.Config.Burst = 1000, 2000
	return nil
}

func (te *Environment) startTimeout() (time.Duration, error) {
	if te.ControlPlaneStartTimeout == 0 {
		if text := os.Getenv(envStartTimeout); text != "" {
			d, err := time.ParseDuration(text)
			if err != nil {
				return 0, fmt.Errorf("failed to default controlplane timeouts: %w", err)
			}
			te.ControlPlaneStartTimeout = d
		}
	}
	te.ControlPlaneStartTimeout = cmp.Or(te.ControlPlaneStartTimeout, defaultStartTimeout)
	return te.ControlPlaneStartTimeout, nil
}

// install brings definitions and webhooks. The certificates of the webhooks come first: definitions with conversions need them.
func (te *Environment) install() error {
	te.WebhookInstallOptions.PollInterval = cmp.Or(te.WebhookInstallOptions.PollInterval, pollInterval)
	if err := te.WebhookInstallOptions.PrepWithoutInstalling(); err != nil {
		return err
	}
	o := &te.CRDInstallOptions
	if o.Scheme == nil {
		o.Scheme = te.Scheme
	}
	o.CRDs = append(o.CRDs, missing(o.CRDs, te.CRDs, func(c *apiextensionsv1.CustomResourceDefinition) string { return c.Name })...)
	o.Paths = append(o.Paths, missing(o.Paths, te.CRDDirectoryPaths, func(p string) string { return p })...)
	o.ErrorIfPathMissing = te.ErrorIfCRDPathMissing
	o.WebhookOptions = te.WebhookInstallOptions
	o.PollInterval = cmp.Or(o.PollInterval, pollInterval)
	installed, err := InstallCRDs(te.Config, *o)
	if err != nil {
		return fmt.Errorf("unable to install CRDs onto control plane: %w", err)
	}
	te.CRDs = installed
	if err := te.WebhookInstallOptions.Install(te.Config); err != nil {
		return fmt.Errorf("unable to install webhooks onto control plane: %w", err)
	}
	return nil
}

// missing are those of more that are not among have, by their keys.
func missing[T any](have, more []T, key func(T) string) []T {
	seen := map[string]bool{}
	for _, h := range have {
		seen[key(h)] = true
	}
	var out []T
	for _, m := range more {
		if !seen[key(m)] {
			seen[key(m)] = true
			out = append(out, m)
		}
	}
	return out
}

// Stop ends the control plane, open watches at once. Definitions go before if CRDInstallOptions.CleanUpAfterUse says so.
func (te *Environment) Stop() error {
	if te.CRDInstallOptions.CleanUpAfterUse {
		if err := UninstallCRDs(te.Config, te.CRDInstallOptions); err != nil {
			return err
		}
	}
	err := te.WebhookInstallOptions.Cleanup()
	if te.existing() {
		return err
	}
	return errors.Join(err, te.ControlPlane.Stop())
}

// AddUser makes a user known. The configuration is base, with who the user is and where the server is; nil: an empty one.
func (te *Environment) AddUser(user User, base *rest.Config) (*AuthenticatedUser, error) {
	return te.ControlPlane.AddUser(user, base)
}

// Cluster is the control plane as a cluster, for what an Environment can't tell; nil before Start and with an existing cluster.
func (te *Environment) Cluster() *cluster.Cluster { return te.ControlPlane.cluster }

func (te *Environment) existing() bool {
	if te.UseExistingCluster == nil {
		is, err := strconv.ParseBool(os.Getenv(envUseExistingCluster))
		return err == nil && is
	}
	return *te.UseExistingCluster
}
