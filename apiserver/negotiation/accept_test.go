package negotiation

import (
	"net/http/httptest"
	"testing"
)

func TestNegotiate(t *testing.T) {
	t.Parallel()
	shaped := Endpoint{Shapes: true}
	for _, c := range []struct {
		accept   string
		endpoint Endpoint
		media    Media
		shape    Shape
		fails    bool
	}{
		{"", shaped, JSON, Full, false},
		{"*/*", shaped, JSON, Full, false},
		{"application/json", shaped, JSON, Full, false},
		{"application/yaml", shaped, YAML, Full, false},
		{"application/vnd.kubernetes.protobuf,application/json", shaped, Protobuf, Full, false},
		{"application/json;q=0.5, application/yaml;q=0.9", shaped, YAML, Full, false},
		{"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", shaped, JSON, Table, false},
		{"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Endpoint{}, JSON, Full, false},
		{"application/json;as=Table;v=v1;g=meta.k8s.io", Endpoint{}, "", Full, true},
		{"application/json;as=Table;v=v2;g=meta.k8s.io", shaped, "", Full, true},
		{"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", shaped, Protobuf, PartialMetadata, false},
		{"application/vnd.kubernetes.protobuf;stream=watch", Endpoint{Stream: true}, Protobuf, Full, false},
		{"application/yaml", Endpoint{Stream: true}, "", Full, true},
		{"text/plain", shaped, "", Full, true},
		{"application/json;stream=nope", shaped, "", Full, true},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept", c.accept)
		out, err := Negotiate(r, c.endpoint)
		if (err != nil) != c.fails || out.Media != c.media && !c.fails || out.Shape != c.shape && !c.fails {
			t.Errorf("%q: %+v, %v", c.accept, out, err)
		}
	}
}

func TestPretty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent, query string
		want         bool
	}{{"curl/8", "", true}, {"kubectl/v1", "", false}, {"curl/8", "?pretty=false", false}, {"x", "?pretty=1", true}} {
		r := httptest.NewRequest("GET", "/"+c.query, nil)
		r.Header.Set("User-Agent", c.agent)
		if out, err := Negotiate(r, Endpoint{}); err != nil || out.Pretty != c.want {
			t.Errorf("%+v: %v, %v", c, out.Pretty, err)
		}
	}
}
