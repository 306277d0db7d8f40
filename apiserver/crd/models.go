package crd

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// packedModels is what the OpenAPI documents of all custom resources have in common, as a genuine server has it: tools/openapi
// takes it from a definition's document.
//
//go:embed models.json
var packedModels []byte

// shared is what documents have in common.
type shared struct {
	// Schemas by name: metadata, statuses, options and scales.
	Schemas map[string]json.RawMessage `json:"schemas"`
	// Parameters of requests by action, and under "path" those that stand in the path or concern every request.
	Parameters map[string][]parameter `json:"parameters"`
}

type parameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

// models are unpacked when a document or a schema is first needed.
var models = sync.OnceValue(func() *shared {
	out := &shared{}
	if err := json.Unmarshal(packedModels, out); err != nil {
		panic(fmt.Sprintf("embedded OpenAPI models: %v", err))
	}
	return out
})

// fieldTypes is by what server-side apply merges the objects of all versions: their schemas.
func (d *definition) fieldTypes() managedfields.TypeConverter {
	all := map[string]*spec.Schema{}
	for name, raw := range models().Schemas {
		if !strings.HasPrefix(name, metaPackage) {
			continue
		}
		s := &spec.Schema{}
		if err := json.Unmarshal(raw, s); err != nil {
			panic(fmt.Sprintf("embedded OpenAPI models: %s: %v", name, err))
		}
		all[name] = s
	}
	for _, v := range d.versions {
		s, err := v.openAPISchema(publication{})
		if err != nil {
			return managedfields.NewDeducedTypeConverter()
		}
		all[modelName(v.gvk)] = s
	}
	c, err := managedfields.NewTypeConverter(all, d.crd.Spec.PreserveUnknownFields)
	if err != nil {
		return managedfields.NewDeducedTypeConverter()
	}
	return c
}
