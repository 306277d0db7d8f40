package openapi

import (
	"bytes"
	_ "embed"
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
	load func() *document
	made time.Time
}

// NewV2 makes the document; it is unpacked at the first request. Now is when clients may take it to have changed last.
func NewV2(now time.Time) *V2 {
	return &V2{made: now, load: sync.OnceValue(func() *document {
		return newDocument(unpack(packedV2), func(b []byte) (proto.Message, error) { return openapi_v2.ParseDocument(b) })
	})}
}

// ServeHTTP serves the document in the form that the client likes best.
func (v *V2) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["Vary"] = []string{"Accept-Encoding", "Accept"}
	doc, form := v.load(), formOfV2(r.Header.Get("Accept"))
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
