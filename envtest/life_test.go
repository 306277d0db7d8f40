package envtest_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/envtest"
)

// TestStopEndsWatches at once, a hundred of them: nothing waits for a timeout (controller-runtime#1571).
func TestStopEndsWatches(t *testing.T) {
	t.Parallel()
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var watches []watch.Interface
	for range 100 {
		w, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watches = append(watches, w)
	}
	if err := env.Stop(); err != nil {
		t.Errorf("with open watches: %v", err)
	}
	for _, w := range watches {
		for range w.ResultChan() {
			// What came before the end.
		}
	}
}

// TestNothingIsDownloaded and no binary is looked for, whatever a suite says about them (controller-tools#1333).
func TestNothingIsDownloaded(t *testing.T) {
	t.Setenv("KUBEBUILDER_ASSETS", "/nowhere")
	env := &envtest.Environment{DownloadBinaryAssets: true, DownloadBinaryAssetsVersion: "v1.2.3", DownloadBinaryAssetsIndexURL: "https://nowhere.invalid/index.yaml", BinaryAssetsDirectory: "/nowhere"}
	start(t, env)
}

// TestNothingIsLeft behind a stopped environment: no folder, and no process, as there never was one (controller-runtime#911, #1749).
func TestNothingIsLeft(t *testing.T) {
	directory := t.TempDir()
	t.Setenv("TMPDIR", directory)
	env := &envtest.Environment{CRDDirectoryPaths: []string{"testdata/crds"}, WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{"testdata/webhook.yaml"}}, Controllers: []string{"*"}, Nodes: 1}
	if _, err := env.Start(); err != nil {
		t.Fatal(err)
	}
	user, err := env.AddUser(envtest.User{Name: "ann"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := user.Kubectl(); err != nil {
		t.Fatal(err)
	}
	if err := env.Stop(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		t.Errorf("%s is left", l.Name())
	}
}

// TestMany environments start and stop beside each other, each on a port that is nobody else's for a moment
// (controller-runtime#1363, #1612).
func TestMany(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			env := &envtest.Environment{}
			if _, err := env.Start(); err != nil {
				t.Error(err)
				return
			}
			name := fmt.Sprintf("own-%d", i)
			if err := createAlone(t, env, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := env.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// createAlone creates an object, and makes sure that there is no other environment's.
func createAlone(t *testing.T, env *envtest.Environment, name string) error {
	c, err := kubernetes.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	maps := c.CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	list, err := maps.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(list.Items) != 1 || list.Items[0].Name != name {
		return fmt.Errorf("%d objects", len(list.Items))
	}
	return nil
}
