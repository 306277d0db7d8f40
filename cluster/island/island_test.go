package island

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster/island/process"
	"github.com/kogge-dev/kogge/internal/netns"
)

// cluster is one that a test created, and deletes at its end.
type cluster struct {
	t         *testing.T
	directory Directory
	spec      Spec
	client    kubernetes.Interface
}

func create(t *testing.T, name string, nodes int) *cluster {
	t.Helper()
	binaries, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(binaries, "kogge")); err != nil {
		t.Fatalf("%v: run `make bin build images` first, as `make test` does", err)
	}
	made := &cluster{t: t, directory: Directory(filepath.Join(t.TempDir(), name))}
	t.Cleanup(func() {
		if t.Failed() {
			made.showLogs()
		}
		if err := Delete(context.WithoutCancel(t.Context()), made.directory); err != nil {
			t.Error(err)
		}
	})
	options := CreateOptions{Spec: Spec{Name: name, Nodes: nodes, Binaries: binaries}, Wait: 2 * time.Minute}
	for _, step := range CreateSteps(made.directory, options) {
		began := time.Now()
		if err := step.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", step.Title, err)
		}
		t.Logf("%s: %s", step.Title, time.Since(began).Round(time.Millisecond))
	}
	if made.spec, err = made.directory.Spec(); err != nil {
		t.Fatal(err)
	}
	if made.client, err = adminClient(made.directory); err != nil {
		t.Fatal(err)
	}
	return made
}

// showLogs prints the end of each log, for a test that failed.
func (c *cluster) showLogs() {
	files, err := filepath.Glob(c.directory.path("log", "*.log"))
	if err != nil {
		c.t.Error(err)
	}
	ofNodes, err := filepath.Glob(c.directory.path("nodes", "*", "log", "kogge", "*.log"))
	if err != nil {
		c.t.Error(err)
	}
	for _, file := range append(files, ofNodes...) {
		content, err := os.ReadFile(file)
		if err != nil {
			c.t.Error(err)
			continue
		}
		c.t.Logf("%s ends:\n%s", file, content[max(0, len(content)-2000):])
	}
}

func (c *cluster) record(name string) process.Record {
	c.t.Helper()
	record, err := process.Load(c.directory.recordFile(name))
	if err != nil {
		c.t.Fatal(err)
	}
	return record
}

// within tries until attempt succeeds, for two minutes at most.
func (c *cluster) within(what string, attempt func(context.Context) error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	if err := eventually(ctx, func() error { return attempt(ctx) }); err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
}

const (
	namespace = "default"
	app       = "web"
)

func (c *cluster) deploy(replicas int32) {
	c.t.Helper()
	labels := map[string]string{"app": app}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: ptr.To[int64](1),
					Containers:                    []corev1.Container{{Name: "nginx", Image: "nginx:1.27", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}},
				},
			},
		},
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	// The namespace's service account comes a moment after the server is ready.
	c.within("create the Deployment", func(ctx context.Context) error {
		_, err := c.client.AppsV1().Deployments(namespace).Create(ctx, deployment, metav1.CreateOptions{})
		return err
	})
	if _, err := c.client.CoreV1().Services(namespace).Create(c.t.Context(), service, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// awaitAvailable waits until all replicas are available, and no pod still counts that isn't running.
func (c *cluster) awaitAvailable(replicas int32) {
	c.t.Helper()
	c.within("all replicas are available", func(ctx context.Context) error {
		deployment, err := c.client.AppsV1().Deployments(namespace).Get(ctx, app, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := deployment.Status.AvailableReplicas; got != replicas {
			return fmt.Errorf("%d of %d replicas are available", got, replicas)
		}
		return nil
	})
}

// fetch asks the Service for its page from a node.
func (c *cluster) fetch(node string) {
	c.t.Helper()
	inside := netns.Open(fmt.Sprintf("/proc/%d/ns/net", c.record(node).PID))
	transport := &http.Transport{DialContext: inside.DialContext, DisableKeepAlives: true}
	c.within("the Service answers on "+node, func(ctx context.Context) error {
		service, err := c.client.CoreV1().Services(namespace).Get(ctx, app, metav1.GetOptions{})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+service.Spec.ClusterIP+"/", nil)
		if err != nil {
			return err
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", response.Status)
		}
		return nil
	})
}

// kill ends a unit as a crash would, and waits until it is another process.
func (c *cluster) kill(name string) {
	c.t.Helper()
	before := c.record(name)
	if err := unix.Kill(before.PID, unix.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	c.within(name+" comes back", func(context.Context) error {
		if now := c.record(name); now == before || !now.Alive() {
			return errors.New("it has not been started again")
		}
		return nil
	})
}

// Not parallel: it looks at the whole machine, and wants it for itself.
func TestClusterLivesDiesAndLeavesNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("clusters of containers need root: run the tests as root")
	}
	const name = "test-island"
	place := filepath.Join(filepath.Dir(t.TempDir()), "somewhere")
	before := lookAtHost(t, Directory(place), name)
	made := create(t, name, 2)
	made.deploy(3)
	made.awaitAvailable(3)
	for _, node := range made.spec.NodeList() {
		made.fetch(node.Name)
	}

	t.Run("pods are on both nodes, with addresses of the pods' range", func(t *testing.T) {
		pods, err := made.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		nodes := map[string]bool{}
		for _, pod := range pods.Items {
			nodes[pod.Spec.NodeName] = true
			if address, ok := parse(pod.Status.PodIP); !ok || !PodRange.Contains(address) {
				t.Errorf("pod %s has the address %q", pod.Name, pod.Status.PodIP)
			}
		}
		if len(nodes) != 2 {
			t.Errorf("pods are on %v only", nodes)
		}
	})
	t.Run("the server is killed: nothing acknowledged is lost", func(t *testing.T) {
		made.kill("server")
		made.awaitAvailable(3)
	})
	t.Run("a node is killed: it comes back as after a reboot", func(t *testing.T) {
		node := made.spec.NodeList()[0].Name
		made.kill(node)
		made.fetch(node)
		made.awaitAvailable(3)
	})
	t.Run("the supervisor is killed: the next one takes over what runs", func(t *testing.T) {
		supervisor, server := made.record(supervisorName), made.record("server")
		if err := unix.Kill(supervisor.PID, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		made.within("the supervisor has ended", func(context.Context) error {
			if supervisor.Alive() {
				return errors.New("it runs")
			}
			return nil
		})
		for _, step := range CreateSteps(made.directory, CreateOptions{Spec: made.spec, Wait: time.Minute}) {
			if err := step.Run(t.Context()); err != nil {
				t.Fatalf("%s: %v", step.Title, err)
			}
		}
		if now := made.record("server"); now != server {
			t.Errorf("the server was %v, is %v: it was not taken over", server, now)
		}
	})
	t.Run("a second cluster of that name is refused", func(t *testing.T) {
		if _, err := prepare(made.directory, CreateOptions{Spec: made.spec, Reuse: false}); err == nil {
			t.Error("prepared again while it runs")
		}
		if spec, err := prepare(made.directory, CreateOptions{Spec: made.spec, Reuse: true}); err != nil || spec != made.spec {
			t.Errorf("to be used again as it is: %+v, %v", spec, err)
		}
	})

	if err := Delete(t.Context(), made.directory); err != nil {
		t.Fatal(err)
	}
	after := lookAtHost(t, made.directory, name)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the host (-before +after):\n%s", diff)
	}
	if made.directory.Exists() {
		t.Errorf("%s is left", made.directory)
	}
	if err := Delete(t.Context(), made.directory); err != nil {
		t.Errorf("deleting what isn't there: %v", err)
	}
}
