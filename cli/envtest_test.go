package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestMain lets the test's binary stand in for those of etcd, kube-apiserver and kogge.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "etcd", "kube-apiserver", "kogge":
		os.Exit(Run(os.Args, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// assets lays out a folder for envtest.
func assets(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kogge := filepath.Join(directory, "kogge")
	if os.Link(self, kogge) != nil {
		copyFile(t, self, kogge)
	}
	if err := os.WriteFile(filepath.Join(directory, "kubectl"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := layAssets(kogge, filepath.Join(directory, "assets"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := layAssets(kogge, out); err != nil {
		t.Errorf("a second time: %v", err)
	}
	return out
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); errors.Join(err, out.Close()) != nil {
		t.Fatal(err)
	}
}

// startEnvtest starts controller-runtime's own envtest on our binary.
func startEnvtest(t *testing.T) kubernetes.Interface {
	t.Helper()
	env := &envtest.Environment{BinaryAssetsDirectory: assets(t), ControlPlaneStartTimeout: time.Minute, ControlPlaneStopTimeout: time.Minute}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Without controllers nothing happens but what is asked: a pod needs no ServiceAccount, a deleted namespace stays.
func TestEnvtestWithoutControllers(t *testing.T) {
	t.Parallel()
	c, ctx := startEnvtest(t), t.Context()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if _, err := c.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Errorf("a pod where there are no ServiceAccounts: %v", err)
	}
	if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The server is to end although somebody watches.
	if _, err := c.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.CoreV1().Namespaces().Delete(ctx, "n", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if n, err := c.CoreV1().Namespaces().Get(ctx, "n", metav1.GetOptions{}); err != nil || n.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("the namespace is %v, %v", n.Status.Phase, err)
	}
}

func TestEnvtestWithControllers(t *testing.T) {
	t.Setenv(envtestControllers, "*")
	c, ctx := startEnvtest(t), t.Context()
	if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := c.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=n"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := c.CoreV1().Namespaces().Delete(ctx, "n", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for e := range w.ResultChan() {
		if e.Type == "DELETED" {
			break
		}
	}
	if _, err := c.CoreV1().Namespaces().Get(ctx, "n", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace: %v", err)
	}
}

func TestAssetsReplaceNothingOfOthers(t *testing.T) {
	t.Parallel()
	directory := assets(t)
	etcd := filepath.Join(directory, "etcd")
	if err := errors.Join(os.Remove(etcd), os.WriteFile(etcd, []byte("genuine"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := layAssets(filepath.Join(directory, "..", "kogge"), directory); err == nil {
		t.Error("a genuine etcd would have been replaced")
	}
	if _, err := layAssets(filepath.Join(directory, "kube-apiserver"), t.TempDir()); err != nil {
		t.Errorf("by a link: %v", err)
	}
	if _, err := layAssets(filepath.Join(directory, "none"), t.TempDir()); err == nil {
		t.Error("without a binary")
	}
}

func TestElectedAtOnce(t *testing.T) {
	t.Parallel()
	if got := electedAtOnce([]string{"etcd", "--data-dir=d"}); !slices.Equal(got, []string{"etcd", "--data-dir=d", "--heartbeat-interval=20", "--election-timeout=100"}) {
		t.Error(got)
	}
	for _, chosen := range []string{"--heartbeat-interval=100", "-election-timeout", "--initial-cluster=a=b,c=d"} {
		if got := electedAtOnce([]string{"etcd", chosen}); len(got) != 2 {
			t.Error(got)
		}
	}
}

func TestUnknownFlags(t *testing.T) {
	t.Parallel()
	got := unknownFlags(newKubeAPIServer().Flags(), []string{"--secure-port=1", "--authorization-mode=RBAC", "--profiling=false", "--audit-log-path", "f", "-v=4", "--"})
	if !slices.Equal(got, []string{"profiling", "audit-log-path"}) {
		t.Error(got)
	}
}
