package envtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kogge-dev/kogge/cluster"
)

// ErrNotStarted is what is said before Start.
var ErrNotStarted = errors.New("the control plane has not been started")

// ControlPlane is the API server with its store, and whatever else the environment asks for.
type ControlPlane struct {
	// APIServer takes the API server's flags (Configure) and address (SecureServing). Of the flags these have an effect:
	// authorization-mode, enable-admission-plugins, disable-admission-plugins and service-cluster-ip-range.
	APIServer *APIServer
	// Etcd takes the folder of the store (DataDir); empty: a temporary one.
	Etcd *Etcd
	// KubectlPath is the kubectl that users get; empty: it is looked for.
	KubectlPath string

	kubectlDirectory string
	cluster          *cluster.Cluster
	directory        string // of kubeconfigs
}

// Start starts an API server on its own.
func (p *ControlPlane) Start() error {
	return p.start(context.Background(), cluster.Options{}, false)
}

func (p *ControlPlane) start(ctx context.Context, o cluster.Options, attach bool) (err error) {
	if p.cluster != nil {
		return errors.New("the control plane runs already")
	}
	if o.Controllers == nil {
		o.Controllers = []string{}
	}
	o.WithoutScheduler = o.Nodes == 0 && !slices.Contains(o.Controllers, "*")
	if attach {
		o.Logger = slog.New(slog.NewTextHandler(cmp.Or[io.Writer](p.GetAPIServer().Err, os.Stderr), nil))
	}
	if err := p.configure(&o); err != nil {
		return err
	}
	if p.cluster, err = cluster.Start(ctx, o); err != nil {
		return err
	}
	admin := p.cluster.RESTConfig()
	at, err := url.Parse(admin.Host)
	if err != nil {
		return err
	}
	server := p.GetAPIServer()
	server.SecureServing.CA = admin.CAData
	if server.SecureServing.Address, server.SecureServing.Port, err = net.SplitHostPort(at.Host); err != nil {
		return err
	}
	server.URL = at
	return nil
}

// configure reads the flags. Those that envtest gives a genuine server by default hold here too.
func (p *ControlPlane) configure(o *cluster.Options) error {
	server := p.GetAPIServer()
	flags := server.Configure()
	// A ServiceAccount that nobody makes is not to be missed.
	var disabled []string
	if !runs(o.Controllers, "serviceaccount-controller") {
		disabled = []string{"ServiceAccount"}
	}
	o.DisableAdmissionPlugins = flags.Get("disable-admission-plugins").Get(disabled)
	o.AuthorizationModes = flags.Get("authorization-mode").Get(cluster.AuthorizationModes)
	o.EnableAdmissionPlugins = flags.Get("enable-admission-plugins").Get(nil)
	if services := flags.Get("service-cluster-ip-range").Get(nil); len(services) > 0 {
		prefix, err := netip.ParsePrefix(services[len(services)-1])
		if err != nil {
			return fmt.Errorf("service-cluster-ip-range: %w", err)
		}
		o.ServiceRange = prefix
	}
	if p.Etcd != nil {
		o.Dir = p.Etcd.DataDir
	}
	if at := server.SecureServing.ListenAddr; at.Address != "" || at.Port != "" {
		o.Address = net.JoinHostPort(cmp.Or(at.Address, "127.0.0.1"), cmp.Or(at.Port, "0"))
	}
	return nil
}

// runs says whether a controller is among those that are asked for.
func runs(enabled []string, name string) bool {
	return !slices.Contains(enabled, "-"+name) && (slices.Contains(enabled, "*") || slices.Contains(enabled, name))
}

// Stop ends it.
func (p *ControlPlane) Stop() error {
	if p.cluster == nil {
		return nil
	}
	err := p.cluster.Stop()
	if p.directory != "" {
		err = errors.Join(err, os.RemoveAll(p.directory))
	}
	p.cluster, p.directory = nil, ""
	// The port was this run's.
	p.APIServer.SecureServing.ListenAddr, p.APIServer.URL = ListenAddr{}, nil
	return err
}

// GetAPIServer gives the APIServer, which is made if there is none.
func (p *ControlPlane) GetAPIServer() *APIServer {
	if p.APIServer == nil {
		p.APIServer = &APIServer{}
	}
	return p.APIServer
}

// APIURL is where the API server is.
//
// Deprecated: it is there for suites that use it. AddUser gives whole configurations.
func (p *ControlPlane) APIURL() *url.URL { return p.GetAPIServer().URL }

// RESTClientConfig is the administrator's configuration.
//
// Deprecated: it is there for suites that use it. AddUser gives whole configurations.
func (p *ControlPlane) RESTClientConfig() (*rest.Config, error) {
	if p.cluster == nil {
		return nil, ErrNotStarted
	}
	return p.cluster.RESTConfig(), nil
}

// KubeCtl is a kubectl that is the administrator; nil before Start.
//
// Deprecated: it is there for suites that use it. AddUser gives users, and they theirs.
func (p *ControlPlane) KubeCtl() *KubeCtl {
	admin, err := p.AddUser(User{Name: "default", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return nil
	}
	kubectl, err := admin.Kubectl()
	if err != nil {
		return nil
	}
	return kubectl
}

// AddUser makes a user known, who has a client certificate. The configuration is base, with who the user is and where the server is;
// nil: an empty one.
func (p *ControlPlane) AddUser(user User, base *rest.Config) (*AuthenticatedUser, error) {
	if p.cluster == nil {
		return nil, ErrNotStarted
	}
	own, err := p.cluster.AddUser(user.Name, user.Groups...)
	if err != nil {
		return nil, err
	}
	if base == nil {
		base = &rest.Config{}
	}
	out := rest.CopyConfig(base)
	out.Host = own.Host
	out.CAData, out.CertData, out.KeyData = own.CAData, own.CertData, own.KeyData
	return &AuthenticatedUser{config: out, plane: p}, nil
}

// AuthenticatedUser is a user that was added.
type AuthenticatedUser struct {
	config  *rest.Config
	plane   *ControlPlane
	kubectl *KubeCtl
}

// Config is how the user reaches the server.
func (u *AuthenticatedUser) Config() *rest.Config { return u.config }

// KubeConfig is Config as the content of a file.
func (u *AuthenticatedUser) KubeConfig() ([]byte, error) { return encodeKubeconfig(u.config) }

// Kubectl is a kubectl that is this user.
func (u *AuthenticatedUser) Kubectl() (*KubeCtl, error) {
	if u.kubectl != nil {
		return u.kubectl, nil
	}
	content, err := u.KubeConfig()
	if err != nil {
		return nil, err
	}
	if u.plane.directory == "" {
		if u.plane.directory, err = os.MkdirTemp("", "kogge-envtest-"); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(u.plane.directory, "*.kubecfg")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(content); errors.Join(err, f.Close()) != nil {
		return nil, fmt.Errorf("write %s: %w", f.Name(), err)
	}
	u.kubectl = &KubeCtl{Path: cmp.Or(u.plane.KubectlPath, findKubectl(u.plane.kubectlDirectory)), Opts: []string{"--kubeconfig=" + f.Name()}}
	return u.kubectl, nil
}

// KubeCtl runs kubectl.
type KubeCtl struct {
	Path string
	// Opts go before the arguments of every run.
	Opts []string
}

// Run runs kubectl once, and gives what it printed.
func (k *KubeCtl) Run(arguments ...string) (stdout, stderr io.Reader, err error) {
	var out, errOut bytes.Buffer
	command := exec.Command(k.Path, append(slices.Clone(k.Opts), arguments...)...)
	command.Stdout, command.Stderr = &out, &errOut
	err = command.Run()
	return &out, &errOut, err
}

// findKubectl looks where envtest looks, and then on the path.
func findKubectl(directory string) string {
	if path := os.Getenv("TEST_ASSET_KUBECTL"); path != "" {
		return path
	}
	for _, d := range []string{os.Getenv("KUBEBUILDER_ASSETS"), directory} {
		if path := filepath.Join(d, "kubectl"); d != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return "kubectl"
}

// encodeKubeconfig makes a configuration into the content of a file.
func encodeKubeconfig(c *rest.Config) ([]byte, error) {
	const name = "envtest"
	at, err := url.Parse(c.Host)
	if err != nil {
		return nil, fmt.Errorf("the server's address: %w", err)
	}
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: (&url.URL{Scheme: cmp.Or(at.Scheme, "https"), Host: at.Host, Path: c.APIPath}).String(), CertificateAuthorityData: c.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData, Token: c.BearerToken, Username: c.Username, Password: c.Password}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	return clientcmd.Write(*file)
}
