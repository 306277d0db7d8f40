package openapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
)

func TestV2Forms(t *testing.T) {
	t.Parallel()
	v2 := NewV2(time.Unix(1_800_000_000, 0))
	get := func(accept string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/openapi/v2", nil)
		r.Header.Set("Accept", accept)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		v2.ServeHTTP(w, r)
		return w
	}
	var doc struct {
		Definitions map[string]json.RawMessage `json:"definitions"`
	}
	plain := get("application/json")
	if err := json.Unmarshal(plain.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Definitions["io.k8s.api.core.v1.Pod"] == nil {
		t.Error("the document has no definition of a Pod")
	}
	packed := get("application/json;as=x, */*", "Accept-Encoding", "gzip")
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() >= plain.Body.Len() {
		t.Errorf("asked for gzip: encoding %q, %d bytes", packed.Header().Get("Content-Encoding"), packed.Body.Len())
	}
	binary := get(mimeProtoV2)
	if binary.Header().Get("Content-Type") != mimeProtoV2Answer {
		t.Errorf("protobuf's Content-Type is %q", binary.Header().Get("Content-Type"))
	}
	var message openapi_v2.Document
	if err := proto.Unmarshal(binary.Body.Bytes(), &message); err != nil {
		t.Fatal(err)
	}
	if len(message.Definitions.AdditionalProperties) != len(doc.Definitions) {
		t.Errorf("protobuf has %d definitions, JSON %d", len(message.Definitions.AdditionalProperties), len(doc.Definitions))
	}
	if w := get("application/json", "If-None-Match", plain.Header().Get("ETag")); w.Code != http.StatusNotModified {
		t.Errorf("unchanged document: code %d, want 304", w.Code)
	}
	if w := get("application/yaml"); w.Code != http.StatusNotAcceptable || w.Body.Len() > 0 {
		t.Errorf("YAML: code %d, %d bytes, want an empty 406", w.Code, w.Body.Len())
	}
}
