package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	openapi_v3 "github.com/google/gnostic-models/openapiv3"
)

// packed is a zstd-compressed JSON object: group-version path ("api/v1", "apis/apps/v1") to document.
//
//go:embed v3.json.zst
var packed []byte

// mimeProto is the protobuf form of a document.
const mimeProto = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"

// Documents holds all documents. Safe for concurrent use.
type Documents struct {
	load func() map[string]*document

	mu    sync.RWMutex
	added map[string]func() (*document, error) // custom resources'
}

// New makes documents that are unpacked at the first request.
func New() *Documents {
	return &Documents{load: sync.OnceValue(unpackV3), added: map[string]func() (*document, error){}}
}

// Swap adds a group version's document, made when it is first asked for, in place of what was added before; nil takes it away.
func (d *Documents) Swap(path string, make func() ([]byte, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if make == nil {
		delete(d.added, path)
		return
	}
	d.added[path] = sync.OnceValues(func() (*document, error) {
		b, err := make()
		if err != nil {
			return nil, fmt.Errorf("OpenAPI document %s: %w", path, err)
		}
		return newV3(b), nil
	})
}

// get gives a document; nil if there is none.
func (d *Documents) get(path string) (*document, error) {
	if doc := d.load()[path]; doc != nil {
		return doc, nil
	}
	d.mu.RLock()
	make := d.added[path]
	d.mu.RUnlock()
	if make == nil {
		return nil, nil
	}
	return make()
}

// paths lists all documents.
func (d *Documents) paths() []string {
	static := d.load()
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := slices.Collect(maps.Keys(static))
	for path := range d.added {
		if static[path] == nil {
			out = append(out, path)
		}
	}
	return out
}

func newV3(b []byte) *document {
	return newDocument(b, func(b []byte) (proto.Message, error) { return openapi_v3.ParseDocument(b) })
}

func unpackV3() map[string]*document {
	var docs map[string]json.RawMessage
	if err := json.Unmarshal(unpack(packed), &docs); err != nil {
		panic(fmt.Sprintf("embedded OpenAPI documents: %v", err))
	}
	out := make(map[string]*document, len(docs))
	for path, body := range docs {
		out[path] = newV3(body)
	}
	return out
}

// Index lists the documents with their hashes.
func (d *Documents) Index(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		URL string `json:"serverRelativeURL"`
	}
	paths := map[string]entry{}
	for _, path := range d.paths() {
		doc, err := d.get(path)
		if err != nil || doc == nil {
			continue // one that can't be made must not hide the others
		}
		paths[path] = entry{"/openapi/v3/" + path + "?hash=" + doc.hash}
	}
	b, err := json.Marshal(map[string]any{"paths": paths})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	// Without a word on its type, as a genuine server sends it.
	_, _ = w.Write(b) // the client has gone
}

// Document serves one document. With the right hash in its query it may be kept for long; with a wrong one the client is sent to the right one.
func (d *Documents) Document(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/openapi/v3/")
	doc, err := d.get(path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if doc == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if hash := r.URL.Query().Get("hash"); hash != "" {
		if hash != doc.hash {
			w.Header().Set("Location", "/openapi/v3/"+path+"?hash="+doc.hash)
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Cache-Control", "public, immutable")
		w.Header().Set("Expires", "Thu, 31 Dec 2099 23:59:59 GMT")
	}
	w.Header().Set("Vary", "Accept")
	w.Header().Set("ETag", `"`+doc.hash+`"`)
	if slices.Contains(r.Header["If-None-Match"], `"`+doc.hash+`"`) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	doc.write(w, r)
}

func (doc *document) write(w http.ResponseWriter, r *http.Request) {
	body := doc.json
	if strings.Contains(r.Header.Get("Accept"), "proto-openapi") {
		b, err := doc.pb()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", mimeProto)
		_, _ = w.Write(b) // the client has gone
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		body = doc.gzip()
	}
	_, _ = w.Write(body) // the client has gone
}
