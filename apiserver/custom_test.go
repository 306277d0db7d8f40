package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kogge-dev/kogge/apiserver"
)

// widget is a definition as controller-gen writes it for a kubebuilder project, with all that a version can have.
const widget = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"annotations":{"controller-gen.kubebuilder.io/version":"v0.19.0"},"name":"widgets.shop.example.com"},
"spec":{"group":"shop.example.com","names":{"kind":"Widget","listKind":"WidgetList","plural":"widgets","shortNames":["wd"],"singular":"widget"},"scope":"Namespaced","versions":[{
 "additionalPrinterColumns":[{"jsonPath":".spec.size","name":"Size","type":"integer"},{"jsonPath":".spec.color","name":"Color","type":"string"}],
 "name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.color"}],
 "subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size","labelSelectorPath":".status.selector"}},
 "schema":{"openAPIV3Schema":{"description":"Widget is the Schema for the widgets API","type":"object","required":["spec"],"properties":{
  "apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},
  "spec":{"type":"object","x-kubernetes-validations":[{"rule":"self.size <= 9","message":"at most nine"},{"rule":"!has(oldSelf.owner) || self.owner == oldSelf.owner","messageExpression":"'owner was ' + oldSelf.owner","fieldPath":".owner","reason":"FieldValueForbidden"}],
   "properties":{"size":{"type":"integer","format":"int32","minimum":0,"default":1},"color":{"type":"string","enum":["red","blue"],"default":"red"},"owner":{"type":"string"},
    "defaulted":{"type":"string","default":"d"},"nullable":{"type":"string","nullable":true},"both":{"type":"string","nullable":true,"default":"b"},"plain":{"type":"string"},
    "names":{"type":"array","items":{"type":"string"}},"port":{"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true},
    "parts":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]},
    "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
  "status":{"type":"object","properties":{"size":{"type":"integer"},"selector":{"type":"string"}}}}}}},
 {"name":"v1beta1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"},"kept":{"type":"string"}}}}}}}]}}`

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgets     = "/apis/shop.example.com/v1/namespaces/default/widgets"
)

// tree asks for an object or sends one, and demands a code.
func tree(t *testing.T, s *apiserver.Server, want int, method, path, body string) *unstructured.Unstructured {
	t.Helper()
	kind := "application/json"
	if method == http.MethodPatch {
		kind = "application/merge-patch+json"
	}
	code, _, answer := call(t, s, method, path, kind, body)
	if code != want {
		t.Fatalf("%s %s %s: %d %s", method, path, body, code, answer)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(answer)); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return u
}

// install makes a definition and waits until it is served.
func install(t *testing.T, s *apiserver.Server, definition string) {
	t.Helper()
	name := tree(t, s, 201, "POST", definitions, definition).GetName()
	await(t, func() bool {
		_, _, body := call(t, s, "GET", definitions+"/"+name, "", "")
		return strings.Contains(body, `"InitialNamesAccepted"`)
	})
}

// await asks again and again, for up to ten seconds.
func await(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("it did not come to be")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func made(name, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":%q},"spec":%s}`, name, spec)
}

// TestCustomResourcesAreJudged by their schema, rules and all; what it does not know goes.
func TestCustomResourcesAreJudged(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	install(t, s, widget)
	for _, x := range []struct {
		name, spec string
		code       int
		text       string
	}{
		{"unknown fields go", `{"size":2,"nobody":1,"open":{"any":1}}`, 201, `{"both":"b","color":"red","defaulted":"d","open":{"any":1},"size":2}`},
		// kubernetes/kubernetes#95423
		{"null with a default", `{"defaulted":null}`, 201, `"defaulted":"d"`},
		{"null that may not be", `{"plain":null}`, 201, `"spec":{"both":"b","color":"red","defaulted":"d","size":1}`},
		{"null that may be", `{"nullable":null,"both":null}`, 201, `"nullable":null`},
		{"null with a default that may be", `{"both":null}`, 201, `"both":null`},
		{"null in a list", `{"names":[null]}`, 422, `spec.names[0]: Invalid value: \"null\": spec.names[0] in body must be of type string: \"null\"`},
		{"an enum", `{"color":"green"}`, 422, `spec.color: Unsupported value: \"green\": supported values: \"red\", \"blue\"`},
		{"a rule", `{"size":10}`, 422, `spec: Invalid value: at most nine`},
		{"int or string", `{"port":"http"}`, 201, `"port":"http"`},
		{"neither int nor string", `{"port":true}`, 422, `spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer,string: \"boolean\"`},
		{"a key twice", `{"parts":[{"name":"a"},{"name":"a"}]}`, 422, `spec.parts[1]: Duplicate value: {\"name\":\"a\"}`},
	} {
		code, _, body := call(t, s, "POST", widgets, "application/json", made(strings.ReplaceAll(x.name, " ", "-"), x.spec))
		if code != x.code || !strings.Contains(body, x.text) {
			t.Errorf("%s: %d %s", x.name, code, body)
		}
	}
	other := strings.Replace(made("other", "{}"), "Widget", "Gadget", 1)
	if code, _, body := call(t, s, "POST", widgets, "application/json", other); code != 422 || !strings.Contains(body, `Gadget.shop.example.com \"other\" is invalid: [kind: Invalid value: \"Gadget\": must be Widget`) {
		t.Errorf("another kind: %d %s", code, body)
	}
	code, _, body := call(t, s, "POST", widgets+"?fieldValidation=Strict", "application/json", made("strict", `{"nobody":1,"open":{"any":1}}`))
	if code != 400 || !strings.Contains(body, `strict decoding error: unknown field \"spec.nobody\"`) {
		t.Errorf("strict: %d %s", code, body)
	}
	_, h, _ := call(t, s, "POST", widgets, "application/json", made("warned", `{"nobody":1}`))
	if h.Get("Warning") != `299 - "unknown field \"spec.nobody\""` {
		t.Errorf("warning %q", h.Get("Warning"))
	}
}

// TestCustomResourcesChange: transition rules, generation, status and scale, and every sort of patch.
func TestCustomResourcesChange(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	install(t, s, widget)
	u := tree(t, s, 201, "POST", widgets, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"owner":"me"},"status":{"size":5}}`)
	if _, ok := u.Object["status"]; ok || u.GetGeneration() != 1 {
		t.Errorf("made: %v", u.Object)
	}
	code, _, body := call(t, s, "PATCH", widgets+"/w", "application/merge-patch+json", `{"spec":{"owner":"you"}}`)
	if code != 422 || !strings.Contains(body, `spec.owner: Forbidden: owner was me`) {
		t.Errorf("a transition rule: %d %s", code, body)
	}
	if u = tree(t, s, 200, "PATCH", widgets+"/w", `{"spec":{"size":3},"status":{"size":3}}`); u.GetGeneration() != 2 || u.Object["status"] != nil {
		t.Errorf("patched: %v", u.Object)
	}
	if u = tree(t, s, 200, "PATCH", widgets+"/w/status", `{"spec":{"size":4},"status":{"size":3,"selector":"a=b"}}`); u.GetGeneration() != 2 {
		t.Errorf("status: %v", u.Object)
	}
	if u = tree(t, s, 200, "GET", widgets+"/w/scale", ""); fmt.Sprint(u.Object["spec"], u.Object["status"]) != "map[replicas:3] map[replicas:3 selector:a=b]" {
		t.Errorf("scale: %v", u.Object)
	}
	tree(t, s, 200, "PUT", widgets+"/w/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w"},"spec":{"replicas":6}}`)
	if n, _, _ := unstructured.NestedFieldNoCopy(tree(t, s, 200, "GET", widgets+"/w", "").Object, "spec", "size"); fmt.Sprint(n) != "6" {
		t.Errorf("size after scaling: %v", n)
	}
	code, _, body = call(t, s, "PATCH", widgets+"/w?fieldManager=x", "application/apply-patch+yaml", made("w", `{"parts":[{"name":"a","n":1}]}`))
	if code != 200 || !strings.Contains(body, `"k:{\"name\":\"a\"}"`) {
		t.Errorf("apply: %d %s", code, body)
	}
	code, _, body = call(t, s, "PATCH", widgets+"/w", "application/strategic-merge-patch+json", `{}`)
	if code != 415 || !strings.Contains(body, "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml") {
		t.Errorf("strategic: %d %s", code, body)
	}
	code, _, body = call(t, s, "PUT", widgets+"/w", "application/json", made("w", `{}`))
	if code != 422 || !strings.Contains(body, "must be specified for an update") {
		t.Errorf("an update without a version: %d %s", code, body)
	}
}

// TestCustomResourceVersions: an object is seen in every version, less what that version does not know.
func TestCustomResourceVersions(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	install(t, s, widget)
	tree(t, s, 201, "POST", widgets, made("w", `{"size":2,"color":"blue"}`))
	const old = "/apis/shop.example.com/v1beta1/namespaces/default/widgets/w"
	_, h, body := call(t, s, "GET", old, "", "")
	if !strings.Contains(body, `"apiVersion":"shop.example.com/v1beta1"`) || !strings.Contains(body, `"spec":{"size":2}`) {
		t.Error(body)
	}
	if want := `299 - "shop.example.com/v1beta1 Widget is deprecated; use shop.example.com/v1 Widget"`; h.Get("Warning") != want {
		t.Errorf("warning %q", h.Get("Warning"))
	}
	for selector, want := range map[string]int{"spec.color=blue": 1, "spec.color=red": 0} {
		u := tree(t, s, 200, "GET", widgets+"?fieldSelector="+selector, "")
		if items, _, _ := unstructured.NestedSlice(u.Object, "items"); len(items) != want {
			t.Errorf("%s: %d", selector, len(items))
		}
	}
	code, _, body := call(t, s, "GET", widgets+"?fieldSelector=spec.size=2", "", "")
	if code != 400 || !strings.Contains(body, "field label not supported: spec.size") {
		t.Errorf("%d %s", code, body)
	}
}

// TestDefinitionsLive: discovery, OpenAPI and names follow definitions; the objects go before the definition does.
func TestDefinitionsLive(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	install(t, s, widget)
	for _, path := range []string{"/apis/shop.example.com/v1", "/openapi/v3/apis/shop.example.com/v1", "/openapi/v2"} {
		if _, _, body := call(t, s, "GET", path, "", ""); !strings.Contains(body, `Widget`) {
			t.Errorf("%s does not know the kind", path)
		}
	}
	second := strings.NewReplacer("widgets", "gadgets", `"widget"`, `"gadget"`).Replace(widget)
	tree(t, s, 201, "POST", definitions, second)
	await(t, func() bool {
		_, _, body := call(t, s, "GET", definitions+"/gadgets.shop.example.com", "", "")
		return strings.Contains(body, `"reason":"ListKindConflict","message":"\"WidgetList\" is already in use"`)
	})
	tree(t, s, 201, "POST", widgets, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"held","finalizers":["a.example/b"]},"spec":{}}`)
	tree(t, s, 201, "POST", widgets, made("free", "{}"))
	ended := make(chan string, 1)
	go func() {
		_, _, body := call(t, s, "GET", widgets+"?watch=true", "", "")
		ended <- body
	}()
	tree(t, s, 200, "DELETE", definitions+"/widgets.shop.example.com", "")
	await(t, func() bool {
		code, _, _ := call(t, s, "GET", widgets+"/free", "", "")
		return code == 404
	})
	code, _, body := call(t, s, "POST", widgets, "application/json", made("late", "{}"))
	if code != 403 || !strings.Contains(body, "create not allowed while custom resource definition is terminating") {
		t.Errorf("late: %d %s", code, body)
	}
	tree(t, s, 200, "PATCH", widgets+"/held", `{"metadata":{"finalizers":null}}`)
	await(t, func() bool {
		code, _, _ := call(t, s, "GET", definitions+"/widgets.shop.example.com", "", "")
		return code == 404
	})
	select {
	case body := <-ended:
		if !strings.Contains(body, `"type":"DELETED"`) {
			t.Errorf("the watch saw %s", body)
		}
	case <-time.After(10 * time.Second):
		t.Error("a watch outlives its definition")
	}
	// The names are free now.
	await(t, func() bool {
		code, _, _ := call(t, s, "GET", "/apis/shop.example.com/v1/gadgets", "", "")
		return code == 200
	})
}

// TestCustomResourcesSurvive a restart, and a changed schema defaults what was stored before it.
func TestCustomResourcesSurvive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, stop := startAt(t, dir)
	install(t, s, widget)
	tree(t, s, 201, "POST", widgets, made("w", `{}`))
	tree(t, s, 200, "PATCH", definitions+"/widgets.shop.example.com",
		`{"spec":{"versions":`+between(widget, `"versions":`, `}}`, strings.NewReplacer(`"owner":{"type":"string"}`, `"owner":{"type":"string","default":"new"}`))+`}}`)
	owned := func() bool {
		_, _, body := call(t, s, "GET", widgets+"/w", "", "")
		return strings.Contains(body, `"owner":"new"`)
	}
	await(t, owned)
	stop()
	s, stop = startAt(t, dir)
	defer stop()
	if !owned() {
		t.Error("after a restart it is not as it was")
	}
}

// between cuts a part out of a text and changes it.
func between(text, from, to string, change *strings.Replacer) string {
	_, rest, _ := strings.Cut(text, from)
	return change.Replace(strings.TrimSuffix(rest, to))
}
