package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
)

// packedV2 is the zstd-compressed document of version 2.
//
//go:embed v2.json.zst
var packedV2 []byte

// The protobuf form of version 2, as it is asked for and as it is called in an answer.
const (
	mimeProtoV2       = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	mimeProtoV2Answer = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
)

// V2 serves the one document of OpenAPI version 2. Safe for concurrent use.
type V2 struct {
	base func() *document
	made time.Time

	mu   sync.RWMutex
	load func() (*document, error) // what is served: the base, and what was added
}

// Additions are what custom resources add to the document.
type Additions func() (paths, definitions map[string]json.RawMessage, err error)

// Swap has the document made anew, when it is next asked for, of the base and these additions.
func (v *V2) Swap(additions Additions) {
	load := sync.OnceValues(func() (*document, error) {
		paths, definitions, err := additions()
		if err != nil || len(paths) == 0 {
			return v.base(), err
		}
		b, err := merge(v.base().json, map[string]map[string]json.RawMessage{"paths": paths, "definitions": definitions})
		if err != nil {
			return nil, err
		}
		return newV2(b), nil
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load = load
}

// merge adds members to objects that are members of a document; those that are there already stay.
func merge(base []byte, more map[string]map[string]json.RawMessage) ([]byte, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(base, &doc); err != nil {
		return nil, err
	}
	for name, added := range more {
		var have map[string]json.RawMessage
		if err := json.Unmarshal(doc[name], &have); err != nil {
			return nil, err
		}
		for key, raw := range added {
			if have[key] == nil {
				have[key] = raw
			}
		}
		b, err := json.Marshal(have)
		if err != nil {
			return nil, err
		}
		doc[name] = b
	}
	return json.Marshal(doc)
}

func newV2(b []byte) *document {
	return newDocument(b, func(b []byte) (proto.Message, error) { return openapi_v2.ParseDocument(b) })
}

// NewV2 makes the document; it is unpacked at the first request. Now is when clients may take it to have changed last.
func NewV2(now time.Time) *V2 {
	v := &V2{made: now, base: sync.OnceValue(func() *document { return newV2(unpack(packedV2)) })}
	v.load = func() (*document, error) { return v.base(), nil }
	return v
}

// ServeHTTP serves the document in the form that the client likes best.
func (v *V2) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["Vary"] = []string{"Accept-Encoding", "Accept"}
	v.mu.RLock()
	load := v.load
	v.mu.RUnlock()
	doc, err := load()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	form := formOfV2(r.Header.Get("Accept"))
	body := doc.json
	switch form {
	case "":
		w.WriteHeader(http.StatusNotAcceptable)
		return
	case mimeProtoV2Answer:
		b, err := doc.pb()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body = b
	default:
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && r.Header.Get("Range") == "" {
			w.Header().Set("Content-Encoding", "gzip")
			body = doc.gzip()
		}
	}
	w.Header().Set("Content-Type", form)
	w.Header().Set("ETag", `"`+doc.hash+`"`)
	http.ServeContent(w, r, "/openapi/v2", v.made, bytes.NewReader(body))
}

// formOfV2 is the Content-Type that answers an Accept header; empty if none does.
func formOfV2(accept string) string {
	if accept == "" {
		return "application/json"
	}
	for _, part := range strings.Split(accept, ",") {
		// The @ of the protobuf form is no letter of a media type.
		name, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == mimeProtoV2 || name == mimeProtoV2Answer {
			return mimeProtoV2Answer
		}
		if t, _, err := mime.ParseMediaType(part); err == nil && (t == "application/json" || t == "application/*" || t == "*/*") {
			return "application/json"
		}
	}
	return ""
}
