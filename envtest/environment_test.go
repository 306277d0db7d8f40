package envtest_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kogge-dev/kogge/envtest"
)

func start(t *testing.T, env *envtest.Environment) (*rest.Config, kubernetes.Interface) {
	t.Helper()
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
	return config, c
}

func guestbook(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.kogge.dev/v1", "kind": "Guestbook",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{"size": size}}}
}

// TestNothingRunsUnlessAskedFor as in controller-runtime's environment.
func TestNothingRunsUnlessAskedFor(t *testing.T) {
	t.Parallel()
	env := &envtest.Environment{CRDDirectoryPaths: []string{filepath.Join("testdata", "crds")}, ErrorIfCRDPathMissing: true}
	config, c := start(t, env)
	ctx := t.Context()
	if len(env.CRDs) != 1 || len(env.KubeConfig) == 0 {
		t.Errorf("%d definitions, kubeconfig of %d bytes", len(env.CRDs), len(env.KubeConfig))
	}
	dynamic, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := dynamic.Create(ctx, guestbook("a", 1)); err != nil {
		t.Error(err)
	}
	if err := dynamic.Create(ctx, guestbook("b", 0)); !apierrors.IsInvalid(err) {
		t.Errorf("a size of 0: %v", err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if _, err := c.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Errorf("a pod where there are no ServiceAccounts: %v", err)
	}
}

func TestControllersAndNodes(t *testing.T) {
	t.Parallel()
	_, c := start(t, &envtest.Environment{Controllers: []string{"*"}, Nodes: 1})
	ctx := t.Context()
	owner, err := c.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}}}
	if owned, err = c.CoreV1().Secrets("default").Create(ctx, owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := c.CoreV1().Secrets("default").Watch(ctx, metav1.ListOptions{ResourceVersion: owned.ResourceVersion, FieldSelector: "metadata.name=owned"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := c.CoreV1().ConfigMaps("default").Delete(ctx, "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if e := <-w.ResultChan(); e.Type != "DELETED" {
		t.Errorf("the owned Secret: %s", e.Type)
	}
	accounts, err := c.CoreV1().ServiceAccounts("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		t.Fatal(err)
	}
	<-accounts.ResultChan()
	accounts.Stop()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if _, err := c.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pods, err := c.CoreV1().Pods("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop()
	for e := range pods.ResultChan() {
		if p, ok := e.Object.(*corev1.Pod); ok && p.Status.Phase == corev1.PodRunning {
			return
		}
	}
	t.Error("the pod never ran")
}

// refusing refuses what is called "bad".
type refusing struct{}

func (refusing) Handle(_ context.Context, r admission.Request) admission.Response {
	if strings.HasPrefix(r.Name, "bad") {
		return admission.Denied("bad")
	}
	return admission.Allowed("")
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	env := &envtest.Environment{CRDDirectoryPaths: []string{"testdata/crds"}, WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{"testdata/webhook.yaml"}}}
	config, _ := start(t, env)
	o := env.WebhookInstallOptions
	server := webhook.NewServer(webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: o.LocalServingCertDir})
	m, err := ctrl.NewManager(config, manager.Options{WebhookServer: server, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	m.GetWebhookServer().Register("/validate", &webhook.Admission{Handler: refusing{}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	if err := envtest.WaitForWebhooks(config, o.MutatingWebhooks, o.ValidatingWebhooks, o); err != nil {
		t.Fatal(err)
	}
	c := m.GetClient()
	// The server may not listen yet, and the webhook is one that must not fail.
	for err = errors.New("not yet"); err != nil && t.Context().Err() == nil; {
		if err = c.Create(ctx, guestbook("good", 1)); err != nil && !strings.Contains(err.Error(), "connection refused") {
			t.Fatal(err)
		}
	}
	if err := c.Create(ctx, guestbook("bad", 1)); !apierrors.IsForbidden(err) {
		t.Errorf("a bad one: %v", err)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	env := &envtest.Environment{BinaryAssetsDirectory: "testdata"}
	if _, err := env.AddUser(envtest.User{Name: "early"}, nil); !errors.Is(err, envtest.ErrNotStarted) {
		t.Errorf("before Start: %v", err)
	}
	start(t, env)
	user, err := env.AddUser(envtest.User{Name: "ann", Groups: []string{"system:masters", "devs"}}, &rest.Config{UserAgent: "me"})
	if err != nil {
		t.Fatal(err)
	}
	if user.Config().UserAgent != "me" {
		t.Error("the base is lost")
	}
	c, err := kubernetes.NewForConfig(user.Config())
	if err != nil {
		t.Fatal(err)
	}
	who, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || who.Status.UserInfo.Username != "ann" || !strings.Contains(strings.Join(who.Status.UserInfo.Groups, " "), "devs") {
		t.Errorf("%+v, %v", who, err)
	}
	script := filepath.Join(t.TempDir(), "kubectl")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	env.ControlPlane.KubectlPath = script
	kubectl, err := user.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := kubectl.Run("get", "pods")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(out); err != nil || !strings.HasSuffix(string(text), ".kubecfg get pods\n") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFlags that have an effect are those that the documentation names.
func TestFlags(t *testing.T) {
	t.Parallel()
	env := &envtest.Environment{}
	env.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.5.0.0/24").Append("disable-admission-plugins", "NamespaceLifecycle")
	_, c := start(t, env)
	service, err := c.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil || service.Spec.ClusterIP != "10.5.0.1" {
		t.Errorf("%v, %v", service.Spec.ClusterIP, err)
	}
	if _, err := c.CoreV1().ConfigMaps("nowhere").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("without NamespaceLifecycle: %v", err)
	}
	bad := &envtest.Environment{}
	bad.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "nonsense")
	if _, err := bad.Start(); err == nil {
		t.Error("a range that is none")
	}
	missing := &envtest.Environment{CRDDirectoryPaths: []string{"nowhere"}, ErrorIfCRDPathMissing: true}
	if _, err := missing.Start(); err == nil {
		t.Error("a path that is none")
	}
	if err := missing.Stop(); err != nil {
		t.Error(err)
	}
}

// TestAgain starts an environment twice, and uses one from another.
func TestAgain(t *testing.T) {
	t.Parallel()
	env := &envtest.Environment{}
	for range 2 {
		config, err := env.Start()
		if err != nil {
			t.Fatal(err)
		}
		existing := &envtest.Environment{UseExistingCluster: ptr.To(true), Config: config, CRDDirectoryPaths: []string{"testdata/crds"}}
		if _, err := existing.Start(); err != nil {
			t.Error(err)
		}
		existing.CRDInstallOptions.CleanUpAfterUse = true
		if err := existing.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := env.Start(); err == nil {
			t.Error("started while it runs")
		}
		if err := env.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}
