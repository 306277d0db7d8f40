package apiserver_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// copies is a JSON patch that copies an object's data into itself, again and again: each time it doubles.
func copies(n int) string {
	ops := []map[string]any{{"op": "add", "path": "/data/a", "value": strings.Repeat("x", 1000)}}
	for i := range n {
		ops = append(ops, map[string]any{"op": "copy", "from": "/data", "path": fmt.Sprintf("/data/b%d", i)})
	}
	b, err := json.Marshal(ops)
	if err != nil {
		panic(err) // strings and maps of them encode
	}
	return string(b)
}

// TestHostileRequests: what means no good gets a genuine server's answer, but for where that one dies.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	const (
		maps  = "/api/v1/namespaces/default/configmaps"
		one   = maps + "/c?dryRun=All"
		patch = "application/json-patch+json"
		merge = "application/merge-patch+json"
		apply = "application/apply-patch+yaml"
	)
	if code, _, body := call(t, s, "POST", maps, "application/json", `{"metadata":{"name":"c"},"data":{"k":"v"}}`); code != http.StatusCreated {
		t.Fatal(body)
	}
	for _, c := range []struct {
		name, method, path, kind, body string
		code                           int
		text                           string
	}{
		{"a patch that doubles", "PATCH", one, patch, copies(40), 422, "the server rejected our request due to an error in our request"},
		{"too many operations", "PATCH", one, patch, "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"ConfigMap"},`, 10_000) + `{"op":"test","path":"/kind","value":"ConfigMap"}]`, 413, "The allowed maximum operations in a JSON patch is 10000, got 10001"},
		{"a patch that is no list", "PATCH", one, patch, "{}", 400, "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"},
		{"a directive of another form", "PATCH", one, "application/strategic-merge-patch+json", `{"data":{"$retainKeys":[{"a":1}]}}`, 400, "directive of an unexpected form"},
		{"a version that is none", "PATCH", one, merge, `{"metadata":{"resourceVersion":"x"}}`, 500, `strconv.ParseUint: parsing \"x\": invalid syntax`},
		{"a configuration that ends", "PATCH", one + "&fieldManager=f", apply, "{", 400, "error decoding patch: error converting YAML to JSON: yaml: line 1: did not find expected node content"},
		{"a deep configuration", "PATCH", one + "&fieldManager=f", apply, `{"z":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + "}", 400, "error decoding patch: error converting YAML to JSON: yaml: exceeded max depth of 10000"},
		{"a deep object", "POST", maps + "?dryRun=All", "application/json", `{"metadata":{"name":"x"},"z":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", 400, "exceeded max depth"},
		{"a bomb", "POST", maps + "?dryRun=All", "application/yaml", bomb(), 400, "document contains excessive aliasing"},
		{"4 MB", "POST", maps, "application/json", `{"metadata":{"name":"x"},"data":{"a":"` + strings.Repeat("x", 4<<20) + `"}}`, 413, "limit is 3145728"},
		{"4 MB to patch", "PATCH", one, merge, `{"data":{"a":"` + strings.Repeat("x", 4<<20) + `"}}`, 413, "limit is 3145728"},
		{"up", "GET", "/api/v1/namespaces/../pods", "", "", 500, `invalid key: \"/pods/..\"`},
		{"up, escaped", "GET", "/api/v1/namespaces/%2e%2e/pods", "", "", 500, `invalid key: \"/pods/..\"`},
		{"here", "GET", "/apis/apps/v1/namespaces/%2e/deployments?watch=1", "", "", 500, `invalid key: \"/deployments/.\"`},
		{"an object up there", "POST", "/api/v1/namespaces/%2e%2e/configmaps", "application/json", `{"metadata":{"name":"x"}}`, 500, `invalid resource name \"..\": [may not be '..']`},
		{"another object's place", "PUT", one, "application/json", `{"metadata":{"name":"c","uid":"x"}}`, 409, "invalid object, Code: 4, Key: /registry/configmaps/default/c, ResourceVersion: 0"},
		{"options of no version", "DELETE", one, "application/json", `{"kind":"DeleteOptions","apiVersion":"a/v9","dryRun":["All"],"gracePeriodSeconds":3}`, 200, `"status":"Success"`},
		{"options of no version that are none", "DELETE", one, "application/yaml", "kind: DeleteOptions\napiVersion: v9\ngracePeriodSeconds: x\n", 400, "cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64"},
		{"options of another kind", "DELETE", one, "application/json", `{"kind":"Foo","apiVersion":"v1"}`, 400, `no kind \"Foo\" is registered for version \"v1\"`},
		{"two slashes", "GET", "//api/v1/pods", "", "", 404, "404 page not found"},
		{"a token of another version", "GET", "/api/v1/secrets?continue=" + token(`{"v":"meta.k8s.io/v1","rv":1.5,"start":"a"}`), "", "", 400, "cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"},
		{"a token that climbs", "GET", "/api/v1/configmaps?continue=" + token(`{"v":"meta.k8s.io/v1","rv":-1,"start":"../secrets/a"}`), "", "", 400, "continue key is not valid: ../secrets/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := allocated()
			code, _, body := call(t, s, c.method, c.path, c.kind, c.body)
			if code != c.code || !strings.Contains(body, c.text) {
				t.Errorf("%d %.300s, want %d with %q", code, body, c.code, c.text)
			}
			if used := allocated() - before; used > 1<<30 {
				t.Errorf("%d bytes were allocated", used)
			}
		})
	}
}

// token encodes a continue token.
func token(content string) string { return base64.RawURLEncoding.EncodeToString([]byte(content)) }

// bomb is a document of a few hundred bytes that stands for 9^9 strings.
func bomb() string {
	var b strings.Builder
	b.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c <= 'i'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return b.String()
}
