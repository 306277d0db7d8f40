package genuine

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

const token = "admintoken"

// ControlPlane is a control plane of the original binaries on loopback. Start its parts in order; Stop ends what runs.
type ControlPlane struct {
	// Bin is the folder of the binaries, Dir one for data, keys and logs.
	Bin, Dir string

	etcdPort, peerPort, port int
	processes                []*process
}

type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
}

// Config reaches the server as its administrator.
func (g *ControlPlane) Config() *rest.Config {
	return &rest.Config{Host: fmt.Sprintf("https://127.0.0.1:%d", g.port), BearerToken: token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// EtcdURL is where etcd listens.
func (g *ControlPlane) EtcdURL() string { return fmt.Sprintf("http://127.0.0.1:%d", g.etcdPort) }

// freePort asks the kernel for a port. The genuine binaries can't be handed a listener, so that is the best there is.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Start starts all four programs and returns when the API server is ready.
func (g *ControlPlane) Start(ctx context.Context) error {
	if err := g.Prepare(); err != nil {
		return err
	}
	if err := g.StartEtcd(ctx, filepath.Join(g.Dir, "etcd"), "default"); err != nil {
		return err
	}
	if err := g.StartServer(ctx); err != nil {
		return err
	}
	return g.StartControllers()
}

// StartControllers starts the controller manager and the scheduler, without the throttles of their clients.
func (g *ControlPlane) StartControllers() error {
	return g.StartControllersOn(filepath.Join(g.Dir, "kubeconfig"), "--service-account-private-key-file", filepath.Join(g.Dir, "sa.key"))
}

// StartControllersOn starts both for the API server of a kubeconfig, the controller manager with further arguments.
func (g *ControlPlane) StartControllersOn(kubeconfig string, args ...string) error {
	managerPort, err := freePort()
	if err != nil {
		return err
	}
	manager := append([]string{"--kubeconfig", kubeconfig, "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(managerPort),
		"--allocate-node-cidrs", "--cluster-cidr", "10.244.0.0/16", "--kube-api-qps", "5000", "--kube-api-burst", "5000"}, args...)
	if err := g.spawn("kube-controller-manager", manager...); err != nil {
		return err
	}
	return g.StartSchedulerOn(kubeconfig)
}

// StartSchedulerOn starts the scheduler for the API server of a kubeconfig.
func (g *ControlPlane) StartSchedulerOn(kubeconfig string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	return g.spawn("kube-scheduler", "--kubeconfig", kubeconfig, "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(port),
		"--kube-api-qps", "5000", "--kube-api-burst", "5000")
}

// Processes gives the ids of what runs.
func (g *ControlPlane) Processes() []int {
	var out []int
	for _, p := range g.processes {
		out = append(out, p.cmd.Process.Pid)
	}
	return out
}

// Prepare writes keys, tokens and a kubeconfig, and chooses ports.
func (g *ControlPlane) Prepare() error {
	if err := os.MkdirAll(g.Dir, 0o700); err != nil {
		return err
	}
	for _, p := range []*int{&g.etcdPort, &g.peerPort, &g.port} {
		var err error
		if *p, err = freePort(); err != nil {
			return err
		}
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"sa.key":     pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"sa.pub":     pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"tokens.csv": []byte(token + ",admin,admin,system:masters\n"),
		"kubeconfig": kubeconfig(fmt.Sprintf("https://127.0.0.1:%d", g.port)),
	} {
		if err := os.WriteFile(filepath.Join(g.Dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// kubeconfig reaches a server with the token, without checking its certificate.
func kubeconfig(server string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, server, token)
}

// StartEtcd starts etcd on a member's folder.
func (g *ControlPlane) StartEtcd(ctx context.Context, data, name string) error {
	peer := fmt.Sprintf("http://127.0.0.1:%d", g.peerPort)
	err := g.spawn("etcd", "--name", name, "--data-dir", data, "--listen-client-urls", g.EtcdURL(), "--advertise-client-urls", g.EtcdURL(),
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", name+"="+peer)
	if err != nil {
		return err
	}
	return Await(ctx, g.EtcdURL()+"/health", "true")
}

// StartServer starts the API server and returns when it is ready.
func (g *ControlPlane) StartServer(ctx context.Context) error {
	file := func(n string) string { return filepath.Join(g.Dir, n) }
	err := g.spawn("kube-apiserver", "--etcd-servers", g.EtcdURL(), "--secure-port", fmt.Sprint(g.port), "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
		"--endpoint-reconciler-type=none", "--cert-dir", file("certs"), "--token-auth-file", file("tokens.csv"), "--authorization-mode", "Node,RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", file("sa.pub"), "--service-account-signing-key-file", file("sa.key"),
		"--service-cluster-ip-range", "10.96.0.0/16", "--allow-privileged")
	if err != nil {
		return err
	}
	return Await(ctx, g.Config().Host+"/readyz", "ok")
}

func (g *ControlPlane) spawn(name string, args ...string) error {
	log, err := os.Create(filepath.Join(g.Dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p := &process{name: name, cmd: exec.Command(filepath.Join(g.Bin, name), args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait() // its end is what is waited for, not how
		close(p.done)
	}()
	g.processes = append(g.processes, p)
	return nil
}

// End stops the processes of the names, all without names; the last started first.
func (g *ControlPlane) End(names ...string) {
	var kept []*process
	for i := len(g.processes) - 1; i >= 0; i-- {
		p := g.processes[i]
		if len(names) > 0 && !slices.Contains(names, p.name) {
			kept = append([]*process{p}, kept...)
			continue
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-p.done:
		case <-time.After(15 * time.Second):
			_ = p.cmd.Process.Kill()
			<-p.done
		}
	}
	g.processes = kept
}

// Await asks a URL until its answer contains a text.
func Await(ctx context.Context, url, text string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		body, err := get(ctx, client, url)
		if err == nil && bytes.Contains(body, []byte(text)) {
			return nil
		}
		last = err
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("waiting for %s", url), last)
		case <-tick.C:
		}
	}
}

func get(ctx context.Context, c *http.Client, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
