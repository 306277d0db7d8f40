package apiserver_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver"
)

// converting converts between v1, whose spec has hostPort, and v2, whose spec has host and port. How says what it does wrong.
type converting struct{ how atomic.Value }

func (c *converting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(raw.Raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		spec := u.Object["spec"].(map[string]any)
		if strings.HasSuffix(review.Request.DesiredAPIVersion, "/v2") {
			host, port, _ := strings.Cut(spec["hostPort"].(string), ":")
			u.Object["spec"] = map[string]any{"host": host, "port": port}
		} else {
			u.Object["spec"] = map[string]any{"hostPort": spec["host"].(string) + ":" + spec["port"].(string)}
		}
		u.SetAPIVersion(review.Request.DesiredAPIVersion)
		u.SetLabels(map[string]string{"converted": "yes"})
		u.SetGeneration(99) // is not the webhook's to say
		switch c.how.Load() {
		case "renames":
			u.SetName("other")
		case "labels":
			u.SetLabels(map[string]string{"a b": "c"})
		case "version":
			u.SetAPIVersion("example.com/v9")
		}
		out.ConvertedObjects = append(out.ConvertedObjects, runtime.RawExtension{Object: u})
	}
	switch c.how.Load() {
	case "fails":
		out.Result = metav1.Status{Status: metav1.StatusFailure, Message: "cannot"}
	case "nothing":
		out.ConvertedObjects = nil
	case "uid":
		out.UID = "other"
	}
	review.Request, review.Response = nil, out
	_ = json.NewEncoder(w).Encode(review) // the test sees what is missing
}

func TestConversionWebhook(t *testing.T) {
	t.Parallel()
	hook := &converting{}
	hook.how.Store("")
	remote := httptest.NewTLSServer(hook)
	defer remote.Close()
	s, _ := start(t)
	client, err := dynamic.NewForConfig(&rest.Config{Host: "https://in-process", Transport: s.RoundTripper(apiserver.Identity{Name: "admin", Groups: []string{"system:masters"}}), QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", XPreserveUnknownFields: ptr.To(true)}}}
	version := func(name string, storage bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: true, Storage: storage, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &text}}
	}
	definition := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "servers.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "servers", Kind: "Server"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v2", false)},
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
				ConversionReviewVersions: []string{"v7", "v1"},
				ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: ptr.To(remote.URL + "/convert"),
					CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: remote.Certificate().Raw})},
			}}},
	}
	establish(t, client, definition)
	ctx := t.Context()
	v1 := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "servers"}).Namespace("default")
	v2 := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "servers"}).Namespace("default")
	make := func(version, name string, spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/" + version, "kind": "Server", "metadata": map[string]any{"name": name}, "spec": spec}}
	}
	created, err := v2.Create(ctx, make("v2", "a", map[string]any{"host": "h", "port": "1"}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if created.GetAPIVersion() != "example.com/v2" || created.GetGeneration() != 1 {
		t.Errorf("%+v", created)
	}
	stored, err := v1.Get(ctx, "a", metav1.GetOptions{})
	if err != nil || stored.Object["spec"].(map[string]any)["hostPort"] != "h:1" || stored.GetLabels()["converted"] != "yes" {
		t.Errorf("%+v, %v", stored, err)
	}
	if _, err := v1.Create(ctx, make("v1", "b", map[string]any{"hostPort": "g:2"}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := v2.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 || list.Items[1].Object["spec"].(map[string]any)["port"] != "2" {
		t.Errorf("%+v, %v", list, err)
	}
	w, err := v2.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if e := <-w.ResultChan(); e.Object.GetObjectKind().GroupVersionKind().Version != "v2" {
		t.Errorf("%+v", e.Object)
	}
	for how, want := range map[string]string{
		"renames": `returned invalid object: must have the same name: b != other`,
		"labels":  `returned invalid metadata: metadata.labels: Invalid value: "a b"`,
		"version": `returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v9)`,
		"fails":   `failed: cannot`,
		"nothing": `returned 0 objects, expected 1`,
		"uid":     `failed: expected response.uid=`,
	} {
		hook.how.Store(how)
		// What was converted already is not asked about again.
		if _, err := v1.Patch(ctx, "b", "application/merge-patch+json", []byte(`{"spec":{"hostPort":"g:`+how+`"}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err := v2.Get(ctx, "b", metav1.GetOptions{})
		if err == nil || !strings.Contains(err.Error(), "conversion webhook for example.com/v1, Kind=Server "+want) {
			t.Errorf("%s: %v", how, err)
		}
		if _, err := v1.Get(ctx, "b", metav1.GetOptions{}); err != nil {
			t.Errorf("%s: the stored version: %v", how, err)
		}
	}
}

// establish creates a definition and waits until it is served.
func establish(t *testing.T, client dynamic.Interface, definition *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(definition)
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	created, err := definitions.Create(t.Context(), &unstructured.Unstructured{Object: tree}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := definitions.Watch(t.Context(), metav1.ListOptions{ResourceVersion: created.GetResourceVersion(), FieldSelector: "metadata.name=" + definition.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		conditions, _, _ := unstructured.NestedSlice(e.Object.(*unstructured.Unstructured).Object, "status", "conditions")
		for _, c := range conditions {
			if c := c.(map[string]any); c["type"] == "Established" && c["status"] == "True" {
				return
			}
		}
	}
	t.Fatal("the definition is not established")
}
