package kubelet_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/kogge-dev/kogge/kubelet"
	"github.com/kogge-dev/kogge/kubelet/internal/realnode"
	"github.com/kogge-dev/kogge/kubelet/internal/testapi"
)

func TestMain(m *testing.M) { os.Exit(realnode.Main(m)) }

// Tests that start and stop containerd run one after the other.
var daemon sync.Mutex

// node is a kubelet over a real containerd.
type node struct {
	api     *testapi.Server
	options kubelet.Options
	// config reaches the kubelet's port with a certificate that may ask everything, stranger with one that may not.
	config, stranger *rest.Config
}

const busybox, nginx = "busybox:1.37", "nginx:1.27"

// newNode makes the options of a real node; each test has folders and a control group of its own.
func newNode(t *testing.T) *node {
	t.Helper()
	services, images := realnode.Services(t)
	root := t.TempDir()
	ca, caKey := certificate(t, nil, nil)
	serving, servingKey := certificate(t, ca, caKey)
	client, clientKey := certificate(t, ca, caKey, "system:masters")
	other, otherKey := certificate(t, ca, caKey, "system:nodes")
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	api := testapi.New(t)
	n := &node{api: api, options: kubelet.Options{
		NodeName: nodeName, Config: api.Config(), Runtime: services, Images: images,
		NodeIP: netip.MustParseAddr("127.0.0.1"), RootDir: filepath.Join(root, "kubelet"), LogRoot: filepath.Join(root, "logs"),
		CgroupRoot:         realnode.CgroupRoot() + "/" + strings.ReplaceAll(t.Name(), "/", "-"),
		ServingCertificate: &tls.Certificate{Certificate: [][]byte{serving.Raw}, PrivateKey: servingKey},
		ClientCAs:          pool, ClusterDNS: []netip.Addr{netip.MustParseAddr("10.96.0.10")},
	}}
	n.config = &rest.Config{TLSClientConfig: rest.TLSClientConfig{
		Insecure: true, CertData: encodePEM("CERTIFICATE", client.Raw), KeyData: encodeKey(t, clientKey),
	}}
	n.stranger = &rest.Config{TLSClientConfig: rest.TLSClientConfig{
		Insecure: true, CertData: encodePEM("CERTIFICATE", other.Raw), KeyData: encodeKey(t, otherKey),
	}}
	return n
}

// start runs the kubelet; it is replaced when start is called again after stop.
func (n *node) start(t *testing.T) (stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	options := n.options
	options.Listener = listener
	n.config.Host = "https://" + listener.Addr().String()
	return start(t, options)
}

func certificate(t *testing.T, parent *x509.Certificate, parentKey *ecdsa.PrivateKey, groups ...string) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test", Organization: groups},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1")},
	}
	if parent == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return encodePEM("EC PRIVATE KEY", der)
}

func shell(name, script string) v1.Container {
	return v1.Container{Name: name, Image: busybox, Command: []string{"/bin/sh", "-c", script}}
}

// forever is a script that ends at once when it is asked to.
const forever = "; trap 'exit 0' TERM; while true; do sleep 0.1; done"

// get asks the kubelet.
func (n *node) get(t *testing.T, path string) (int, string) {
	t.Helper()
	return n.getAs(t, n.config, path)
}

func (n *node) getAs(t *testing.T, config *rest.Config, path string) (int, string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Get(n.config.Host + path)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (n *node) logs(t *testing.T, pod, container string) string {
	t.Helper()
	code, body := n.get(t, "/containerLogs/default/"+pod+"/"+container)
	if code != http.StatusOK {
		t.Fatalf("logs of %s: %d %s", pod, code, body)
	}
	return body
}

// delete deletes the pod and waits until it is gone.
func (n *node) delete(t *testing.T, name string) {
	t.Helper()
	if err := n.api.Client().CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	n.api.EventuallyPod(t.Context(), "default", name, isGone)
}

func TestRealPodServesAndIsAsked(t *testing.T) {
	daemon.Lock()
	defer daemon.Unlock()
	n := newNode(t)
	n.start(t)
	c := v1.Container{Name: "nginx", Image: nginx, Ports: []v1.ContainerPort{{Name: "http", ContainerPort: 80}}}
	c.ReadinessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{HTTPGet: &v1.HTTPGetAction{Port: intstr.FromString("http")}}}
	c.LivenessProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{TCPSocket: &v1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
	c.StartupProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"/bin/sh", "-c", "true"}}}}
	n.api.Create(t.Context(), pod("web", c))
	n.api.EventuallyPod(t.Context(), "default", "web", isReady)
	for _, protocol := range []string{"websocket", "spdy"} {
		t.Run("exec "+protocol, func(t *testing.T) { testExec(t, n, protocol) })
	}
	t.Run("port-forward websocket", func(t *testing.T) { testPortForward(t, n, true) })
	t.Run("port-forward spdy", func(t *testing.T) { testPortForward(t, n, false) })
	if !n.api.Eventually(t.Context(), func() bool { return strings.Contains(n.logs(t, "web", "nginx"), "kube-probe/1.37") }) {
		t.Error("the log doesn't show the probe")
	}
	if code, body := n.get(t, "/metrics/resource"); code != http.StatusOK || !strings.Contains(body, `container_cpu_usage_seconds_total{container="nginx",namespace="default",pod="web"}`) {
		t.Errorf("metrics: %d %s", code, body)
	}
	if code, body := n.get(t, "/containerLogs/default/web/none"); code != http.StatusNotFound || !strings.Contains(body, `container "none" not found in pod "web"`) {
		t.Errorf("logs of no container: %d %s", code, body)
	}
	nobody := &rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	for want, config := range map[int]*rest.Config{http.StatusForbidden: n.stranger, http.StatusUnauthorized: nobody} {
		if code, body := n.getAs(t, config, "/pods"); code != want {
			t.Errorf("pods: %d %s, want %d", code, body, want)
		}
		if code, _ := n.getAs(t, config, "/healthz"); code != http.StatusOK {
			t.Errorf("healthz: %d", code)
		}
	}
	n.delete(t, "web")
	n.checkNothingLeft(t)
}

// checkNothingLeft looks for what the pods' end should have taken along.
func (n *node) checkNothingLeft(t *testing.T) {
	t.Helper()
	empty := func(folder string) bool {
		entries, err := os.ReadDir(folder)
		return err == nil && len(entries) == 0
	}
	if !n.api.Eventually(t.Context(), func() bool { return empty(n.options.LogRoot) && empty(filepath.Join(n.options.RootDir, "pods")) }) {
		t.Error("files are left")
	}
	left, err := filepath.Glob("/sys/fs/cgroup/*" + n.options.CgroupRoot + "/kubepods/*/pod*")
	if err != nil || len(left) > 0 {
		t.Errorf("control groups are left: %v %v", left, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), n.options.RootDir) {
		t.Errorf("mounts are left: %v", err)
	}
}

func (n *node) executor(t *testing.T, protocol, query string) remotecommand.Executor {
	t.Helper()
	target, err := url.Parse(n.config.Host + "/exec/default/web/nginx?" + query)
	if err != nil {
		t.Fatal(err)
	}
	var executor remotecommand.Executor
	if protocol == "spdy" {
		executor, err = remotecommand.NewSPDYExecutor(n.config, "POST", target)
	} else {
		executor, err = remotecommand.NewWebSocketExecutor(n.config, "GET", target.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	return executor
}

func testExec(t *testing.T, n *node, protocol string) {
	var out, errs bytes.Buffer
	query := url.Values{"input": {"1"}, "output": {"1"}, "error": {"1"}, "command": {"/bin/sh", "-c", "cat; echo oops >&2; exit 7"}}
	err := n.executor(t, protocol, query.Encode()).StreamWithContext(t.Context(), remotecommand.StreamOptions{
		Stdin: strings.NewReader("to the end"), Stdout: &out, Stderr: &errs,
	})
	code, ok := err.(utilexec.CodeExitError)
	if !ok || code.Code != 7 {
		t.Errorf("err = %v, want exit code 7", err)
	}
	// That cat ended shows that the end of the input arrived.
	if out.String() != "to the end" || errs.String() != "oops\n" {
		t.Errorf("stdout = %q, stderr = %q", out.String(), errs.String())
	}
	out.Reset()
	query = url.Values{"input": {"1"}, "output": {"1"}, "tty": {"1"}, "command": {"/bin/sh", "-c", "until stty size 2>/dev/null | grep -q 45; do sleep 0.1; done; stty size"}}
	input, _ := io.Pipe()
	err = n.executor(t, protocol, query.Encode()).StreamWithContext(t.Context(), remotecommand.StreamOptions{
		Stdin: input, Stdout: &out, Tty: true, TerminalSizeQueue: &sizes{{Width: 123, Height: 45}},
	})
	if err != nil || !strings.Contains(out.String(), "45 123") {
		t.Errorf("stty size: %q, err = %v", out.String(), err)
	}
}

// sizes is a terminal that is resized to each of the sizes.
type sizes []remotecommand.TerminalSize

func (s *sizes) Next() *remotecommand.TerminalSize {
	if len(*s) == 0 {
		return nil
	}
	next := (*s)[0]
	*s = (*s)[1:]
	return &next
}

func testPortForward(t *testing.T, n *node, websocket bool) {
	target, err := url.Parse(n.config.Host + "/portForward/default/web")
	if err != nil {
		t.Fatal(err)
	}
	transport, upgrader, err := spdy.RoundTripperFor(n.config)
	if err != nil {
		t.Fatal(err)
	}
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", target)
	if websocket {
		if dialer, err = portforward.NewSPDYOverWebsocketDialer(target, n.config); err != nil {
			t.Fatal(err)
		}
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.New(dialer, []string{"0:80"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), "nginx") {
		t.Errorf("body = %q, err = %v", body, err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRealVolumesAndEnvironment(t *testing.T) {
	daemon.Lock()
	defer daemon.Unlock()
	n := newNode(t)
	n.start(t)
	ctx, client := t.Context(), n.api.Client().CoreV1()
	configMap, err := client.ConfigMaps("default").Create(ctx, &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"color": "red"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Secrets("default").Create(ctx, &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}, Data: map[string][]byte{"key": []byte("s3cret")}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Services("default").Create(ctx, &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"}, Spec: v1.ServiceSpec{ClusterIP: "10.96.0.1", Ports: []v1.ServicePort{{Name: "https", Port: 443}}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.api.Create(ctx, volumePod())
	p := n.api.EventuallyPod(ctx, "default", "volumes", isReady)
	var log string
	if !n.api.Eventually(ctx, func() bool { log = n.logs(t, "volumes", "main"); return strings.Contains(log, "that is all") }) {
		t.Fatalf("the script never came to its end:\n%s", log)
	}
	for _, want := range []string{
		"color=red", "secret=s3cret 440", "token=token-", "label=app=\"x\"", "groups=0 1234", "memory=2777 tmpfs", "disk=2777",
		"sub=red", "host=volumes", "own " + p.Status.PodIP + "\tvolumes", "alias 192.0.2.7\tfriend", "search default.svc.cluster.local svc.cluster.local cluster.local",
		"VALUE=x10.96.0.1 $(NONE)", "FROM_color=red", "IP=" + p.Status.PodIP, "LIMIT=1", "KUBERNETES_SERVICE_PORT_HTTPS=443",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(log)
	}
	configMap.Data["color"] = "blue"
	if _, err := client.ConfigMaps("default").Update(ctx, configMap, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if !n.api.Eventually(ctx, func() bool { return strings.Contains(n.logs(t, "volumes", "watcher"), "color is blue") }) {
		t.Error("the change of the ConfigMap never arrived")
	}
	n.delete(t, "volumes")
	n.checkNothingLeft(t)
}

func volumePod() *v1.Pod {
	script := `echo "color=$(cat /settings/color)"
echo "secret=$(cat /secret/key) $(stat -L -c %a /secret/key)"
echo "token=$(cat /token/token)"
echo "label=$(cat /about/labels)"
echo "groups=$(id -G)"
echo "memory=$(stat -c %a /memory) $(stat -f -c %T /memory)"
echo "disk=$(stat -c %a /disk)"
echo "sub=$(cat /one/color)"
echo "host=$(hostname)"
sed 's/^/own /; s/^own 192.0.2.7/alias 192.0.2.7/' /etc/hosts
cat /etc/resolv.conf
env
echo that is all` + forever
	main, watcher := shell("main", script), shell("watcher", "while true; do echo \"color is $(cat /settings/color)\"; sleep 0.2; done")
	group, seconds, mode := int64(1234), int64(1), int32(0o400)
	main.Env = []v1.EnvVar{
		{Name: "VALUE", Value: "x$(KUBERNETES_SERVICE_HOST) $(NONE)"},
		{Name: "IP", ValueFrom: &v1.EnvVarSource{FieldRef: &v1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
		{Name: "LIMIT", ValueFrom: &v1.EnvVarSource{ResourceFieldRef: &v1.ResourceFieldSelector{Resource: "limits.cpu"}}},
	}
	main.EnvFrom = []v1.EnvFromSource{{Prefix: "FROM_", ConfigMapRef: &v1.ConfigMapEnvSource{LocalObjectReference: v1.LocalObjectReference{Name: "settings"}}}}
	main.Resources.Limits = v1.ResourceList{v1.ResourceCPU: resource.MustParse("500m"), v1.ResourceMemory: resource.MustParse("64Mi")}
	main.VolumeMounts = []v1.VolumeMount{
		{Name: "settings", MountPath: "/settings"}, {Name: "secret", MountPath: "/secret"}, {Name: "token", MountPath: "/token"},
		{Name: "about", MountPath: "/about"}, {Name: "memory", MountPath: "/memory"}, {Name: "disk", MountPath: "/disk"},
		{Name: "settings", MountPath: "/one/color", SubPath: "color"},
	}
	watcher.VolumeMounts = main.VolumeMounts[:1]
	p := pod("volumes", main, watcher)
	p.Labels = map[string]string{"app": "x"}
	p.Spec.DNSPolicy, p.Spec.TerminationGracePeriodSeconds, p.Spec.ServiceAccountName = v1.DNSClusterFirst, &seconds, "default"
	p.Spec.SecurityContext = &v1.PodSecurityContext{FSGroup: &group}
	p.Spec.HostAliases = []v1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"friend"}}}
	p.Spec.Volumes = []v1.Volume{
		{Name: "settings", VolumeSource: v1.VolumeSource{ConfigMap: &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: "settings"}}}},
		{Name: "secret", VolumeSource: v1.VolumeSource{Secret: &v1.SecretVolumeSource{SecretName: "secret", DefaultMode: &mode}}},
		{Name: "token", VolumeSource: v1.VolumeSource{Projected: &v1.ProjectedVolumeSource{Sources: []v1.VolumeProjection{{ServiceAccountToken: &v1.ServiceAccountTokenProjection{Path: "token"}}}}}},
		{Name: "about", VolumeSource: v1.VolumeSource{DownwardAPI: &v1.DownwardAPIVolumeSource{Items: []v1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &v1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}}}},
		{Name: "memory", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{Medium: v1.StorageMediumMemory}}},
		{Name: "disk", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}},
	}
	return p
}

// Neither a kubelet nor a containerd that dies takes containers along.
func TestRealContainersOutliveKubeletAndContainerd(t *testing.T) {
	daemon.Lock()
	defer daemon.Unlock()
	n := newNode(t)
	stop := n.start(t)
	n.api.Create(t.Context(), pod("lives", shell("a", "echo once"+forever)))
	before := n.api.EventuallyPod(t.Context(), "default", "lives", isReady)
	stop()
	stop = n.start(t)
	realnode.Kill(t)
	ready := func(want v1.ConditionStatus, message string) func() bool {
		return func() bool {
			node, err := n.api.Client().CoreV1().Nodes().Get(t.Context(), nodeName, metav1.GetOptions{})
			if err != nil {
				return false
			}
			for _, c := range node.Status.Conditions {
				if c.Type == v1.NodeReady {
					return c.Status == want && c.Message == message
				}
			}
			return false
		}
	}
	if !n.api.Eventually(t.Context(), ready(v1.ConditionFalse, "container runtime is down")) {
		t.Error("the node never said that its runtime is down")
	}
	n.api.Create(t.Context(), pod("waits", shell("a", "true"+forever)))
	realnode.Restart(t)
	if !n.api.Eventually(t.Context(), ready(v1.ConditionTrue, "kubelet is posting ready status")) {
		t.Error("the node never became ready again")
	}
	n.api.EventuallyPod(t.Context(), "default", "waits", isReady)
	after := n.api.EventuallyPod(t.Context(), "default", "lives", isReady)
	if a, b := before.Status.ContainerStatuses[0], after.Status.ContainerStatuses[0]; a.ContainerID != b.ContainerID || b.RestartCount != 0 {
		t.Errorf("before %+v, after %+v", a, b)
	}
	if log := n.logs(t, "lives", "a"); log != "once\n" {
		t.Errorf("log = %q", log)
	}
	// A pod that is deleted while nobody looks is ended by the next kubelet.
	stop()
	now := int64(0)
	for _, name := range []string{"lives", "waits"} {
		if err := n.api.Client().CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
	}
	n.start(t)
	n.checkNothingLeft(t)
}

func TestRealContainersStartFailAndEnd(t *testing.T) {
	daemon.Lock()
	defer daemon.Unlock()
	n := newNode(t)
	n.start(t)
	ctx, always := t.Context(), v1.ContainerRestartPolicyAlways
	t.Run("crash", func(t *testing.T) {
		n.api.Create(ctx, pod("crash", shell("a", "echo gone > /dev/termination-log; exit 3")))
		p := n.api.EventuallyPod(ctx, "default", "crash", func(p *v1.Pod) bool { return waiting(p) == "CrashLoopBackOff" })
		last := p.Status.ContainerStatuses[0].LastTerminationState.Terminated
		if last == nil || last.ExitCode != 3 || last.Message != "gone\n" || last.Reason != "Error" {
			t.Errorf("last = %+v", last)
		}
		n.delete(t, "crash")
	})
	t.Run("init containers and sidecar", func(t *testing.T) {
		p := pod("inits", shell("main", "cat /shared/*"))
		sidecar := shell("sidecar", "echo 2 > /shared/2"+forever)
		sidecar.RestartPolicy = &always
		sidecar.StartupProbe = &v1.Probe{ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"cat", "/shared/2"}}}}
		p.Spec.InitContainers = []v1.Container{shell("first", "echo 1 > /shared/1"), sidecar, shell("third", "ls /shared/2 && echo 3 > /shared/3")}
		p.Spec.RestartPolicy = v1.RestartPolicyNever
		p.Spec.Volumes = []v1.Volume{{Name: "shared", VolumeSource: v1.VolumeSource{EmptyDir: &v1.EmptyDirVolumeSource{}}}}
		for _, list := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				list[i].VolumeMounts = []v1.VolumeMount{{Name: "shared", MountPath: "/shared"}}
			}
		}
		n.api.Create(ctx, p)
		n.api.EventuallyPod(ctx, "default", "inits", func(p *v1.Pod) bool { return p != nil && p.Status.Phase == v1.PodSucceeded })
		if log := n.logs(t, "inits", "main"); log != "1\n2\n3\n" {
			t.Errorf("log = %q", log)
		}
		n.delete(t, "inits")
	})
	t.Run("liveness", func(t *testing.T) {
		c := shell("a", "touch /alive"+forever)
		c.LivenessProbe = &v1.Probe{FailureThreshold: 1, ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"cat", "/missing"}}}}
		n.api.Create(ctx, pod("sick", c))
		n.api.EventuallyPod(ctx, "default", "sick", func(p *v1.Pod) bool {
			return p != nil && len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].RestartCount > 0
		})
		if !n.api.Eventually(ctx, func() bool {
			return strings.Contains(n.api.Events(), "sick Unhealthy: Liveness probe failed: cat: can't open '/missing': No such file or directory\n") &&
				strings.Contains(n.api.Events(), "sick Killing: Container a failed liveness probe, will be restarted")
		}) {
			t.Errorf("events:\n%s", n.api.Events())
		}
		n.delete(t, "sick")
	})
	t.Run("hooks", func(t *testing.T) { testHooks(t, n) })
	n.checkNothingLeft(t)
}

// testHooks shows in a folder of the node in which order things happened.
func testHooks(t *testing.T, n *node) {
	folder := t.TempDir()
	c := shell("a", "trap 'echo term >> /trace/t; exit 0' TERM; while true; do sleep 0.1; done")
	c.VolumeMounts = []v1.VolumeMount{{Name: "trace", MountPath: "/trace"}}
	run := func(text string) *v1.LifecycleHandler {
		return &v1.LifecycleHandler{Exec: &v1.ExecAction{Command: []string{"/bin/sh", "-c", "echo " + text + " >> /trace/t"}}}
	}
	c.Lifecycle = &v1.Lifecycle{PostStart: run("started"), PreStop: run("stopping")}
	p := pod("hooks", c)
	p.Spec.Volumes = []v1.Volume{{Name: "trace", VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: folder}}}}
	n.api.Create(t.Context(), p)
	n.api.EventuallyPod(t.Context(), "default", "hooks", isReady)
	n.delete(t, "hooks")
	trace, err := os.ReadFile(filepath.Join(folder, "t"))
	if err != nil || string(trace) != "started\nstopping\nterm\n" {
		t.Errorf("trace = %q, err = %v", trace, err)
	}
}
