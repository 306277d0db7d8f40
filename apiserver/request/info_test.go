package request

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, url                                          string
		verb, group, version, namespace, resource, name, sub string
		plain                                                bool
	}{
		{"GET", "/api/v1/pods", "list", "", "v1", "", "pods", "", "", false},
		{"GET", "/api/v1/pods?watch=true", "watch", "", "v1", "", "pods", "", "", false},
		{"GET", "/api/v1/pods?watch=0", "list", "", "v1", "", "pods", "", "", false},
		{"GET", "/api/v1/pods?watch=x", "watch", "", "v1", "", "pods", "", "", false},
		{"GET", "/api/v1/watch/pods", "watch", "", "v1", "", "pods", "", "", false},
		{"GET", "/api/v1/namespaces/n/pods/p", "get", "", "v1", "n", "pods", "p", "", false},
		{"GET", "/api/v1/namespaces/n/pods/p?watch=1", "get", "", "v1", "n", "pods", "p", "", false},
		{"GET", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Dp", "list", "", "v1", "n", "pods", "p", "", false},
		{"PUT", "/api/v1/namespaces/n/pods/p/status", "update", "", "v1", "n", "pods", "p", "status", false},
		{"POST", "/api/v1/namespaces/n/pods/p/exec", "create", "", "v1", "n", "pods", "p", "exec", false},
		{"DELETE", "/apis/apps/v1/namespaces/n/deployments", "deletecollection", "apps", "v1", "n", "deployments", "", "", false},
		{"DELETE", "/apis/apps/v1/namespaces/n/deployments/d", "delete", "apps", "v1", "n", "deployments", "d", "", false},
		{"PATCH", "/api/v1/namespaces/n", "patch", "", "v1", "n", "namespaces", "n", "", false},
		{"PUT", "/api/v1/namespaces/n/finalize", "update", "", "v1", "n", "namespaces", "n", "finalize", false},
		{"GET", "/api/v1/namespaces/n/status", "get", "", "v1", "n", "namespaces", "n", "status", false},
		{"GET", "/api/v1/namespaces", "list", "", "v1", "", "namespaces", "", "", false},
		{"GET", "/api/v1/nodes/a/status", "get", "", "v1", "", "nodes", "a", "status", false},
		{"HEAD", "/api/v1/nodes/a", "get", "", "v1", "", "nodes", "a", "", false},
		{"GET", "/api", "get", "", "", "", "", "", "", true},
		{"GET", "/api/v1", "get", "", "", "", "", "", "", true},
		{"GET", "/apis/apps/v1", "get", "", "", "", "", "", "", true},
		{"POST", "/healthz", "post", "", "", "", "", "", "", true},
	} {
		i := Parse(httptest.NewRequest(c.method, c.url, nil))
		got := []any{i.Verb, i.Group, i.Version, i.Namespace, i.Resource, i.Name, i.Subresource, !i.IsResource}
		want := []any{c.verb, c.group, c.version, c.namespace, c.resource, c.name, c.sub, c.plain}
		for k := range want {
			if got[k] != want[k] {
				t.Errorf("%s %s: got %v, want %v", c.method, c.url, got, want)
				break
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/api/v1/namespaces/../pods", "/apis//v1/x", "//api/v1/pods", "/api/v1/namespaces//pods", "/api/v1/watch", "/apis/a/b/watch/", "api///0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = path
		i := Parse(r)
		if i.IsResource && i.Resource == "" && !strings.Contains(path, "//") {
			t.Errorf("%q: parts %v of no resource", path, i.Parts)
		}
		for _, part := range append([]string{i.Group, i.Version, i.Namespace, i.Resource, i.Subresource, i.Name}, i.Parts...) {
			if strings.Contains(part, "/") || !strings.Contains(path, part) {
				t.Errorf("%q: %q is none of its parts", path, part)
			}
		}
	})
}
