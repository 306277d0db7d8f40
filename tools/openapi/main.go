package main

import (
	"bytes"
	"encoding/json"
	"flag"
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
	out := flag.String("out", "", "folder to write into")
	models := flag.String("models", "", "file to write of what documents of custom resources have in common")
	policy := flag.String("policy", "", "file to write of the roles and bindings that every cluster begins with")
	flag.Parse()
	if err := run(*spec, *out); err != nil {
		log.Fatal(err)
	}
	if err := writeModels(filepath.Join(*spec, "definition.json"), *models); err != nil {
		log.Fatal(err)
	}
	if err := writePolicy(*spec, *policy); err != nil {
		log.Fatal(err)
	}
}

func run(spec, out string) error {
	by := map[string][]*resource.Resource{}
	groups := map[string]bool{"api": true, "apis": true, "version": true, ".well-known/openid-configuration": true, "openid/v1/jwks": true}
	for _, r := range resources.All() {
		by[groupVersion(r)] = append(by[groupVersion(r)], r)
		if r.Group != "" {
			groups["apis/"+r.Group] = true
		}
	}
	docs := map[string]*document{}
	for path, rs := range by {
		d, err := read(filepath.Join(spec, fileOf(path)))
		if err != nil {
			return err
		}
		d.keep(func(path string) bool { return anyServes(rs, path) })
		d.Components.Schemas = d.prune(d.Components.Schemas)
		docs[path] = d
	}
	// Discovery's own paths have documents too.
	for path := range groups {
		d, err := read(filepath.Join(spec, fileOf(path)))
		if err != nil {
			return err
		}
		docs[path] = d
	}
	if err := write(filepath.Join(out, "v3.json.zst"), docs); err != nil {
		return err
	}
	v2, err := read(filepath.Join(spec, "v2.json"))
	if err != nil {
		return err
	}
	v2.keep(func(path string) bool {
		return groups[strings.Trim(path, "/")] || anyServes(by[groupVersionOf(path)], path)
	})
	v2.Definitions = v2.prune(v2.Definitions)
	return write(filepath.Join(out, "v2.json.zst"), v2)
}

// groupVersion is the path of a resource's group version, such as "api/v1" and "apis/apps/v1".
func groupVersion(r *resource.Resource) string {
	if r.Group == "" {
		return "api/" + r.Version
	}
	return "apis/" + r.Group + "/" + r.Version
}

// groupVersionOf is the group version that a path is below; empty if it is below none.
func groupVersionOf(path string) string {
	return regexp.MustCompile(`^(api|apis/[^/]+)/v[^/]+`).FindString(strings.TrimPrefix(path, "/"))
}

// fileOf names the file of a document.
func fileOf(path string) string { return strings.ReplaceAll(path, "/", "__") + "_openapi.json" }

func anyServes(rs []*resource.Resource, path string) bool {
	return slices.ContainsFunc(rs, func(r *resource.Resource) bool { return serves(r, path) })
}

// write packs a value.
func write(file string, v any) error {
	raw, err := json.Marshal(v)
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
	return os.WriteFile(file, buf.Bytes(), 0o644)
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
