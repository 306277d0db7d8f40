package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/internal/handover"
)

// Behaviours that independent implementations got wrong, each with its public report.

// call sends a raw request and gives code, headers and body.
func call(t *testing.T, s *apiserver.Server, method, path, contentType, body string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://in-process"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	resp, err := s.RoundTripper(apiserver.Identity{Name: "admin"}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

const twoPorts = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
"spec":{"containers":[{"name":"c","image":"i","ports":[{"name":"p","containerPort":93},{"name":"q","containerPort":93}]}]}}}}`

// TestDuplicatePorts: kubernetes/kubernetes#113482.
func TestDuplicatePorts(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	const path = "/apis/apps/v1/namespaces/default/deployments"
	code, h, body := call(t, s, "POST", path, "application/json", twoPorts)
	if code != http.StatusCreated || !strings.Contains(h.Get("Warning"), "duplicate port definition") {
		t.Errorf("create: %d %q %s", code, h.Get("Warning"), body)
	}
	code, _, body = call(t, s, "PATCH", path+"/d?fieldManager=x&force=true", "application/apply-patch+yaml", twoPorts)
	if code < 400 || !strings.Contains(body, `duplicate entries for key [containerPort=93,protocol=\"TCP\"]`) {
		t.Errorf("apply: %d %s", code, body)
	}
	if code, _, body = call(t, s, "PATCH", path+"/d", "application/merge-patch+json", `{"metadata":{"labels":{"x":"y"}}}`); code != http.StatusOK {
		t.Errorf("a patch by somebody else: %d %s", code, body)
	}
}

// TestPortKeys: kubernetes/kubernetes#105610: the strategic merge key of a Service's ports is the port alone, server-side apply's is port and protocol.
func TestPortKeys(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	svc := func(protocols ...string) string {
		var ports []string
		for _, p := range protocols {
			ports = append(ports, fmt.Sprintf(`{"name":%q,"port":31337,"protocol":%q}`, strings.ToLower(p), p))
		}
		return `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"ports":[` + strings.Join(ports, ",") + `]}}`
	}
	const path = "/api/v1/namespaces/default/services/s"
	for _, x := range []struct {
		kind, body string
		ports      int
	}{{"application/apply-patch+yaml", svc("UDP"), 1}, {"application/apply-patch+yaml", svc("UDP", "TCP"), 2}} {
		if code, _, body := call(t, s, "PATCH", path+"?fieldManager=x", x.kind, x.body); code >= 300 {
			t.Fatalf("%d %s", code, body)
		}
		got, err := c.CoreV1().Services("default").Get(t.Context(), "s", metav1.GetOptions{})
		if err != nil || len(got.Spec.Ports) != x.ports {
			t.Errorf("%v, %v", got.Spec.Ports, err)
		}
	}
}

// TestReapplyWritesNothing: kubernetes/kubernetes#95460, #124605, #131175, #116135.
func TestReapplyWritesNothing(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	const path = "/apis/apps/v1/namespaces/default/deployments/d?fieldManager=x"
	apply := func(cpu, memory string) metav1.ObjectMeta {
		body := fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q,"memory":%q}}}]}}}}`, cpu, memory)
		code, _, out := call(t, s, "PATCH", path, "application/apply-patch+yaml", body)
		if code >= 300 {
			t.Fatalf("%d %s", code, out)
		}
		var d struct{ Metadata metav1.ObjectMeta }
		if err := json.Unmarshal([]byte(out), &d); err != nil {
			t.Fatal(err)
		}
		return d.Metadata
	}
	first := apply("1.2", "3072Mi")
	for _, again := range []metav1.ObjectMeta{apply("1.2", "3072Mi"), apply("1200m", "3Gi")} {
		if again.ResourceVersion != first.ResourceVersion || again.Generation != first.Generation || !again.ManagedFields[0].Time.Equal(first.ManagedFields[0].Time) {
			t.Errorf("applied again: version %s after %s, generation %d", again.ResourceVersion, first.ResourceVersion, again.Generation)
		}
	}
}

// TestFutureVersions: kubernetes/kubernetes#135452: a watch of a future version waits, a read of one times out.
func TestFutureVersions(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := c.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: "1000000"})
	if err != nil {
		t.Fatal(err)
	}
	code, h, body := call(t, s, "GET", "/api/v1/namespaces/default/configmaps?resourceVersion=1000000", "", "")
	if code != http.StatusGatewayTimeout || h.Get("Retry-After") != "1" || !strings.Contains(body, `"reason":"ResourceVersionTooLarge"`) {
		t.Errorf("list: %d %v %s", code, h, body)
	}
	select {
	case e := <-w.ResultChan():
		t.Errorf("the watch got %v", e)
	default:
	}
}

// TestWatchOfCompactedVersion: k3s-io/kine#238, kubernetes/kubernetes#72187: the first frame says 410, and nothing comes before it.
func TestWatchOfCompactedVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, stop := startAt(t, dir)
	c := client(t, s, "application/json")
	maps := c.CoreV1().ConfigMaps("default")
	for i := range 5 {
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := maps.List(t.Context(), metav1.ListOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "later"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	// What a running server still has in memory it may show; a new one knows only what etcd kept.
	stop()
	s, stop = startAt(t, dir)
	defer stop()
	maps = client(t, s, "application/json").CoreV1().ConfigMaps("default")
	code, _, body := call(t, s, "GET", "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=1&timeoutSeconds=2", "", "")
	if first, _, _ := strings.Cut(body, "\n"); code != http.StatusOK || !strings.HasPrefix(first, `{"type":"ERROR","object":{`) || !strings.Contains(first, `"code":410`) {
		t.Errorf("%d %s", code, body)
	}
	late := watchShared(t, sharedSource(t, s, handover.Watch{Path: sharedMaps}), metav1.ListOptions{ResourceVersion: "1"})
	if status := nextEvent(t, late, watch.Error); !apierrors.IsResourceExpired(apierrors.FromObject(status)) {
		t.Errorf("a watch of objects is told %+v", status)
	}
	// A list that can't go on consistently says how to go on without.
	_, err = maps.List(t.Context(), metav1.ListOptions{Limit: 2, Continue: list.Continue})
	var expired apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &expired) {
		t.Fatalf("continue: %v", err)
	}
	rest, err := maps.List(t.Context(), metav1.ListOptions{Limit: 10, Continue: expired.Status().ListMeta.Continue})
	if err != nil || len(rest.Items) != 4 {
		t.Errorf("continue at any version: %v, %v", rest.Items, err)
	}
	if _, err := maps.List(t.Context(), metav1.ListOptions{ResourceVersion: "2", ResourceVersionMatch: metav1.ResourceVersionMatchExact}); !apierrors.IsResourceExpired(err) {
		t.Errorf("list of a compacted version: %v", err)
	}
}

// TestDeletedFramesHaveTheDeletionsVersion: upstream's watcher test DeleteEventObjectHaveLatestRV.
func TestDeletedFramesHaveTheDeletionsVersion(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	maps := c.CoreV1().ConfigMaps("default")
	w, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "a=b", ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"a": "b"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	left, err := maps.Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"c"}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(ctx, "m", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []watch.EventType{watch.Added, watch.Deleted, watch.Added, watch.Deleted}
	number := func(version string) int {
		n, err := strconv.Atoi(version)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	last := made.ResourceVersion
	for i, wanted := range want {
		e := <-w.ResultChan()
		m := e.Object.(*corev1.ConfigMap)
		if e.Type != wanted || m.Labels["a"] != "b" {
			t.Errorf("event %d: %s with %v, want %s", i, e.Type, m.Labels, wanted)
		}
		if i > 0 && number(m.ResourceVersion) <= number(last) {
			t.Errorf("event %d has version %s after %s", i, m.ResourceVersion, last)
		}
		if i == 1 && m.ResourceVersion != left.ResourceVersion {
			t.Errorf("leaving the selection has version %s, want %s", m.ResourceVersion, left.ResourceVersion)
		}
		last = m.ResourceVersion
	}
}

// TestNamesStayInTheirNamespace: the 1.24 audit's RKV: a namespace of dots must not widen a list.
func TestNamesStayInTheirNamespace(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	if _, err := c.CoreV1().Secrets("kube-system").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "hidden"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/v1/namespaces/../secrets", "/api/v1/namespaces/%2e%2e/secrets", "/api/v1/namespaces/./secrets", "/api/v1/namespaces/kube-system%2Fx/secrets", "/api/v1/namespaces/default/secrets/..%2Fkube-system%2Fhidden"} {
		if code, _, body := call(t, s, "GET", path, "", ""); strings.Contains(body, "hidden\"") && code == http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}

// TestWatchList: an informer's first request, whose end is a bookmark that says so.
func TestWatchList(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	maps := c.CoreV1().ConfigMaps("default")
	for _, n := range []string{"a", "b"} {
		if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: n}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w, err := maps.Watch(ctx, metav1.ListOptions{SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var got []string
	for e := range w.ResultChan() {
		m := e.Object.(*corev1.ConfigMap)
		got = append(got, string(e.Type)+m.Name)
		if e.Type == watch.Bookmark {
			if m.Annotations[metav1.InitialEventsAnnotationKey] != "true" || m.ResourceVersion == "" {
				t.Errorf("bookmark %+v", m.ObjectMeta)
			}
			break
		}
	}
	if strings.Join(got, " ") != "ADDEDa ADDEDb BOOKMARK" {
		t.Errorf("got %v", got)
	}
}

// TestBadBodies: what can't be an object gets a 4xx that says why, and costs bounded memory.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	const path = "/api/v1/namespaces/default/configmaps"
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n" + "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n"
	for name, c := range map[string]struct {
		kind, body string
		code       int
	}{
		"not JSON":       {"application/json", "{x", http.StatusBadRequest},
		"too large":      {"application/json", `{"a":"` + string(bytes.Repeat([]byte("x"), 4<<20)) + `"}`, http.StatusRequestEntityTooLarge},
		"deep":           {"application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":` + deep + `}`, http.StatusBadRequest},
		"YAML bomb":      {"application/yaml", bomb, http.StatusBadRequest},
		"wrong protobuf": {"application/vnd.kubernetes.protobuf", "k8s\x00\xff\xff\xff", http.StatusBadRequest},
		"a wrong type":   {"application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":1}}`, http.StatusBadRequest},
		"another kind":   {"application/json", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, http.StatusBadRequest},
		"nothing":        {"application/json", "{}", http.StatusUnprocessableEntity},
	} {
		code, _, body := call(t, s, "POST", path, c.kind, c.body)
		if code != c.code {
			t.Errorf("%s: %d %.300s, want %d", name, code, body, c.code)
		}
	}
}

// TestVersionOnCreate: a version on what is to be created is refused by the store, so that a dry run doesn't mind it.
func TestVersionOnCreate(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	const path = "/api/v1/namespaces/default/configmaps"
	for _, test := range []struct {
		query, version string
		code           int
		want           string
	}{
		{"", "5", http.StatusInternalServerError, "resourceVersion should not be set on objects to be created"},
		{"?dryRun=All", "5", http.StatusCreated, `"resourceVersion":"5"`},
		{"", "0", http.StatusCreated, `"name":"v"`},
	} {
		code, _, body := call(t, s, "POST", path+test.query, "application/json", `{"metadata":{"name":"v","resourceVersion":"`+test.version+`"}}`)
		if code != test.code || !strings.Contains(body, test.want) {
			t.Errorf("version %s%s: %d %s", test.version, test.query, code, body)
		}
	}
}

// TestAnyVersionIsGivenWhole: a list of just any version has no pages, as from a genuine server's cache.
func TestAnyVersionIsGivenWhole(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	for _, c := range []struct {
		query string
		pages bool
	}{
		{"limit=1", true},
		{"limit=1&resourceVersion=1&resourceVersionMatch=NotOlderThan", true},
		{"limit=1&resourceVersion=0", false},
		{"limit=1&resourceVersion=0&resourceVersionMatch=NotOlderThan", false},
	} {
		_, _, body := call(t, s, "GET", "/api/v1/namespaces?"+c.query, "", "")
		if paged := strings.Contains(body, `"continue"`); paged != c.pages {
			t.Errorf("%s: %s", c.query, body)
		}
	}
}

// TestBindingsByTheOldWay: a Binding may be posted to the namespace rather than to the pod.
func TestBindingsByTheOldWay(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := c.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if _, err := c.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const binding = `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}}`
	for _, want := range []struct {
		code int
		says string
	}{{201, `"status":"Success"`}, {409, `pod p is already assigned to node \"n1\"`}} {
		if code, _, body := call(t, s, "POST", "/api/v1/namespaces/default/bindings", "application/json", binding); code != want.code || !strings.Contains(body, want.says) {
			t.Errorf("%d %s", code, body)
		}
	}
	if p, err := c.CoreV1().Pods("default").Get(t.Context(), "p", metav1.GetOptions{}); err != nil || p.Spec.NodeName != "n1" {
		t.Errorf("%v, %v", p.Spec.NodeName, err)
	}
}
