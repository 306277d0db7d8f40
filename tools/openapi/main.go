// Command openapi makes the API server's embedded OpenAPI documents: it takes a genuine server's
// descriptions of the types, keeps the paths that the catalogue serves and the schemas that these need,
// and packs them.
//
//	go run ./tools/openapi -out apiserver/openapi/openapi.json.zst -spec DIR
//
// DIR holds the documents of a genuine API server, a file a group version; `make generate` fetches them.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources"
)

func main() {
	spec := flag.String("spec", "", "folder of upstream's documents")
	out := flag.String("out", "", "file to write")
	flag.Parse()
	if err := run(*spec, *out); err != nil {
		log.Fatal(err)
	}
}

// document is as much of an OpenAPI document as is looked at.
type document struct {
	Components struct {
		Schemas         map[string]json.RawMessage `json:"schemas"`
		SecuritySchemes json.RawMessage            `json:"securitySchemes,omitempty"`
	} `json:"components"`
	Info    json.RawMessage            `json:"info"`
	OpenAPI string                     `json:"openapi"`
	Paths   map[string]json.RawMessage `json:"paths"`
}

func run(spec, out string) error {
	by := map[string][]*resource.Resource{}
	for _, r := range resources.All() {
		path := "apis/" + r.Group + "/" + r.Version
		if r.Group == "" {
			path = "api/" + r.Version
		}
		by[path] = append(by[path], r)
	}
	docs := map[string]*document{}
	for path, rs := range by {
		d, err := read(spec, path)
		if err != nil {
			return err
		}
		d.keep(rs)
		d.prune()
		docs[path] = d
	}
	raw, err := json.Marshal(docs)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, buf.Bytes(), 0o644)
}

func read(spec, path string) (*document, error) {
	b, err := os.ReadFile(filepath.Join(spec, strings.ReplaceAll(path, "/", "__")+"_openapi.json"))
	if err != nil {
		return nil, err
	}
	d := &document{}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// keep drops paths of what is not served.
func (d *document) keep(rs []*resource.Resource) {
	for path := range d.Paths {
		if !slices.ContainsFunc(rs, func(r *resource.Resource) bool { return serves(r, path) }) {
			delete(d.Paths, path)
		}
	}
}

// serves says whether a path is of the resource or of one of its subresources.
func serves(r *resource.Resource, path string) bool {
	rest := regexp.MustCompile(`^/apis?(/[^/]+)?/v[^/]+/(watch/)?`).ReplaceAllString(path, "")
	if r.Namespaced {
		rest = strings.TrimPrefix(rest, "namespaces/{namespace}/")
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if parts[0] != r.Plural {
		return parts[0] == "" // the resource list itself
	}
	return len(parts) < 3 || r.Sub(parts[2]) != nil
}

var reference = regexp.MustCompile(`#/components/schemas/([A-Za-z0-9._-]+)`)

// prune drops schemas that neither a path nor a served kind needs, directly or through others.
func (d *document) prune() {
	needed := map[string]bool{}
	var need func(b []byte)
	need = func(b []byte) {
		for _, m := range reference.FindAllSubmatch(b, -1) {
			name := string(m[1])
			if !needed[name] {
				needed[name] = true
				need(d.Components.Schemas[name])
			}
		}
	}
	for _, p := range d.Paths {
		need(p)
	}
	for name := range d.Components.Schemas {
		if !needed[name] {
			delete(d.Components.Schemas, name)
		}
	}
}
