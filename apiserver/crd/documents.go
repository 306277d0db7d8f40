package crd

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// documentOf makes the OpenAPI document (version 3) of a group version: of all definitions that have it.
func documentOf(versions []*version) ([]byte, error) {
	p := publication{fields: true, wrap: true}
	paths, schemas := object{}, object{}
	scaled := false
	for _, v := range versions {
		if err := v.addTo(paths, schemas, p); err != nil {
			return nil, err
		}
		scaled = scaled || v.scale() != nil
	}
	for name, raw := range models().Schemas {
		if scaled || strings.HasPrefix(name, metaPackage) {
			schemas[name] = raw
		}
	}
	return json.Marshal(object{"openapi": "3.0.0", "info": object{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
		"paths": paths, "components": object{"schemas": schemas}})
}

// additionsOf makes what versions add to the document of version 2: paths and definitions.
func additionsOf(versions []*version) (paths, definitions map[string]json.RawMessage, err error) {
	p := publication{v2: true, fields: true}
	ps, ds := object{}, object{}
	for _, v := range versions {
		if err := v.addTo(ps, ds, p); err != nil {
			return nil, nil, err
		}
	}
	if paths, err = encoded(ps); err != nil {
		return nil, nil, err
	}
	definitions, err = encoded(ds)
	return paths, definitions, err
}

func encoded(o object) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(o))
	for name, x := range o {
		b, err := json.Marshal(x)
		if err != nil {
			return nil, err
		}
		out[name] = b
	}
	return out, nil
}

// addTo adds a version's paths and schemas.
func (v *version) addTo(paths, schemas object, p publication) error {
	s, err := v.openAPISchema(p)
	if err != nil {
		return err
	}
	kind, list := v.gvk, v.gvk
	kind.Kind, list.Kind = v.crd.Spec.Names.Kind, v.crd.Spec.Names.ListKind
	schemas[modelName(kind)], schemas[modelName(list)] = s, v.listSchema(p)
	maps.Copy(paths, v.paths(p))
	return nil
}

// publish has the documents of group versions made anew when they are next asked for.
func (c *Controller) publish(gvs map[schema.GroupVersion]bool) {
	all := c.publishedVersions()
	for gv := range gvs {
		var of []*version
		for _, v := range all {
			if v.gvk.GroupVersion() == gv {
				of = append(of, v)
			}
		}
		path := "apis/" + gv.String()
		if len(of) == 0 {
			c.OpenAPI.Swap(path, nil)
			continue
		}
		c.OpenAPI.Swap(path, func() ([]byte, error) { return documentOf(of) })
	}
	c.OpenAPIV2.Swap(func() (paths, definitions map[string]json.RawMessage, err error) { return additionsOf(all) })
}

// publishedVersions are the served versions of established definitions, in a fixed order.
func (c *Controller) publishedVersions() []*version {
	var out []*version
	for _, s := range c.served {
		for _, v := range s.versions {
			if s.shown && v.spec.Served {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, func(a, b *version) int {
		return cmp.Or(cmp.Compare(a.crd.Name, b.crd.Name), cmp.Compare(a.spec.Name, b.spec.Name))
	})
	return out
}

// groupVersions are those of what is served of a definition.
func (s *serving) groupVersions(into map[schema.GroupVersion]bool) {
	if s != nil {
		for _, gvr := range s.gvrs {
			into[gvr.GroupVersion()] = true
		}
	}
}
