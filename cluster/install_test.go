package cluster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
)

const widgets = `
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: widgets.example.com}
  spec:
    group: example.com
    names: {kind: Widget, plural: widgets}
    scope: Namespaced
    versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
# Nothing.
---
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"beside"}}
`

const hooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: m}
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: s, namespace: system, path: /mutate}}
- name: b.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {url: "https://127.0.0.1:1/own"}
`

func TestInstall(t *testing.T) {
	t.Parallel()
	c := cluster.ForTest(t, cluster.Options{Controllers: []string{}, WithoutScheduler: true})
	dir, ctx := t.TempDir(), t.Context()
	for name, content := range map[string]string{"crd.yaml": widgets, "hooks.yml": hooks, "notes.txt": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	clients, err := kubernetes.NewForConfig(c.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time all is there
		if err := c.InstallCRDs(ctx, dir); err != nil {
			t.Fatal(err)
		}
		if list, err := clients.Discovery().ServerResourcesForGroupVersion("example.com/v1"); err != nil || len(list.APIResources) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		server, err := c.InstallWebhooks(ctx, filepath.Join(dir, "hooks.yml"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := clients.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, "m", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if a := got.Webhooks[0].ClientConfig; a.URL == nil || !strings.HasSuffix(*a.URL, "/mutate") || a.Service != nil || len(a.CABundle) == 0 {
			t.Errorf("the webhook of a Service: %+v", a)
		}
		if b := got.Webhooks[1].ClientConfig; b.URL == nil || *b.URL != "https://127.0.0.1:1/own" || len(b.CABundle) != 0 {
			t.Errorf("the webhook with a URL: %+v", b)
		}
		if _, err := os.Stat(filepath.Join(server.CertDir, "tls.key")); err != nil {
			t.Error(err)
		}
	}
	if err := c.InstallCRDs(ctx, filepath.Join(dir, "none")); err == nil {
		t.Error("a path that is none")
	}
	if err := c.InstallCRDs(ctx, filepath.Join(dir, "notes.txt")); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("a file that is no YAML: %v", err)
	}
}

func TestAddUser(t *testing.T) {
	t.Parallel()
	c := cluster.ForTest(t, cluster.Options{Controllers: []string{}, WithoutScheduler: true})
	config, err := c.AddUser("ann", "devs")
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	who, err := clients.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || who.Status.UserInfo.Username != "ann" || who.Status.UserInfo.Groups[0] != "devs" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := c.AddUser(""); err == nil {
		t.Error("nobody")
	}
}
