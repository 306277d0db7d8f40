package main

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
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

const token = "admintoken"

// genuine is a control plane of the original binaries on loopback.
type genuine struct {
	bin, dir string

	etcdPort, peerPort, port int
	processes                []*process
	stopNodes                func()
}

type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{}
}

func (g *genuine) config() *rest.Config {
	return &rest.Config{Host: fmt.Sprintf("https://127.0.0.1:%d", g.port), BearerToken: token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

func (g *genuine) etcdURL() string { return fmt.Sprintf("http://127.0.0.1:%d", g.etcdPort) }

// freePort asks the kernel for a port. The genuine binaries can't be handed a listener, so that is the best there is.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// start starts everything, with two simulated nodes.
func (g *genuine) start(ctx context.Context) error {
	if err := g.prepare(); err != nil {
		return err
	}
	if err := g.startEtcd(ctx, filepath.Join(g.dir, "etcd"), "default"); err != nil {
		return err
	}
	if err := g.startServer(ctx); err != nil {
		return err
	}
	managerPort, err := freePort()
	if err != nil {
		return err
	}
	schedulerPort, err := freePort()
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(g.dir, "kubeconfig")
	if err := g.spawn("kube-controller-manager", "--kubeconfig", kubeconfig, "--service-account-private-key-file", filepath.Join(g.dir, "sa.key"), "--leader-elect=false",
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(managerPort), "--allocate-node-cidrs", "--cluster-cidr", "10.244.0.0/16", "--kube-api-qps", "1000", "--kube-api-burst", "2000"); err != nil {
		return err
	}
	if err := g.spawn("kube-scheduler", "--kubeconfig", kubeconfig, "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(schedulerPort)); err != nil {
		return err
	}
	g.stopNodes, err = startNodes(g.config(), 2)
	return err
}

// prepare writes keys, tokens and a kubeconfig, and chooses ports.
func (g *genuine) prepare() error {
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
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
		if err := os.WriteFile(filepath.Join(g.dir, name), content, 0o600); err != nil {
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

// startEtcd starts etcd on a member's folder.
func (g *genuine) startEtcd(ctx context.Context, data, name string) error {
	peer := fmt.Sprintf("http://127.0.0.1:%d", g.peerPort)
	err := g.spawn("etcd", "--name", name, "--data-dir", data, "--listen-client-urls", g.etcdURL(), "--advertise-client-urls", g.etcdURL(),
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", name+"="+peer)
	if err != nil {
		return err
	}
	return await(ctx, g.etcdURL()+"/health", "true")
}

func (g *genuine) startServer(ctx context.Context) error {
	file := func(n string) string { return filepath.Join(g.dir, n) }
	err := g.spawn("kube-apiserver", "--etcd-servers", g.etcdURL(), "--secure-port", fmt.Sprint(g.port), "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
		"--endpoint-reconciler-type=none", "--cert-dir", file("certs"), "--token-auth-file", file("tokens.csv"), "--authorization-mode", "Node,RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", file("sa.pub"), "--service-account-signing-key-file", file("sa.key"),
		"--service-cluster-ip-range", "10.96.0.0/16", "--allow-privileged")
	if err != nil {
		return err
	}
	return await(ctx, g.config().Host+"/readyz", "ok")
}

func (g *genuine) spawn(name string, args ...string) error {
	log, err := os.Create(filepath.Join(g.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p := &process{name: name, cmd: exec.Command(filepath.Join(g.bin, name), args...), done: make(chan struct{})}
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

// end stops the processes of the names, all without names; the last started first.
func (g *genuine) end(names ...string) {
	var kept []*process
	for i := len(g.processes) - 1; i >= 0; i-- {
		p := g.processes[i]
		if len(names) > 0 && !contains(names, p.name) {
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

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

func (g *genuine) stop() {
	if g.stopNodes != nil {
		g.stopNodes()
		g.stopNodes = nil
	}
	g.end()
}

// await asks a URL until its answer contains a text.
func await(ctx context.Context, url, text string) error {
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
