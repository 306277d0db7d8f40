package crd

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// packedModels are the OpenAPI definitions that every custom resource's refer to: metadata, statuses, options and scales.
//
//go:embed models.json
var packedModels []byte

// models by name.
var models = sync.OnceValue(func() map[string]*spec.Schema {
	out := map[string]*spec.Schema{}
	if err := json.Unmarshal(packedModels, &out); err != nil {
		panic(fmt.Sprintf("embedded OpenAPI definitions: %v", err))
	}
	return out
})

// fieldTypes is by what server-side apply merges the objects of all versions: their schemas.
func (d *definition) fieldTypes() managedfields.TypeConverter {
	all := map[string]*spec.Schema{}
	for name, s := range models() {
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
