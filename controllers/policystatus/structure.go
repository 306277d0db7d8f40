package policystatus

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// errUnknown: nothing is published about a kind.
var errUnknown = errors.New("schema not found")

// document is the structures that an OpenAPI document of one group and version has, by name.
type document map[string]*spec.Schema

func parse(body []byte) (document, error) {
	var d struct {
		Components struct {
			Schemas document `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, fmt.Errorf("read OpenAPI document: %w", err)
	}
	return d.Components.Schemas, nil
}

// typeOf makes the type of a kind.
func (d document) typeOf(gvk schema.GroupVersionKind) (*apiservercel.DeclType, error) {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if !is(d[name], gvk) {
			continue
		}
		whole, err := d.inline(d[name], map[string]bool{name: true})
		if err != nil {
			return nil, err
		}
		declared := common.SchemaDeclType(&openapi.Schema{Schema: whole}, true)
		if declared == nil {
			return nil, errUnknown
		}
		return declared.MaybeAssignTypeName("kubernetes." + gvk.Kind), nil
	}
	return nil, errUnknown
}

// is says whether a structure is that of a kind.
func is(s *spec.Schema, gvk schema.GroupVersionKind) bool {
	list, _ := s.Extensions["x-kubernetes-group-version-kind"].([]any)
	return slices.ContainsFunc(list, func(entry any) bool {
		m, ok := entry.(map[string]any)
		return ok && m["group"] == gvk.Group && m["version"] == gvk.Version && m["kind"] == gvk.Kind
	})
}

// reference is the name of the structure that one stands for; empty: it is one itself. It may be wrapped, to keep a
// description of its own.
func reference(s *spec.Schema) string {
	ref := s.Ref.String()
	if ref == "" && len(s.AllOf) == 1 {
		ref = s.AllOf[0].Ref.String()
	}
	return strings.TrimPrefix(ref, "#/components/schemas/")
}

// inline makes a structure without references. One that contains itself is an object there of which nothing is known.
func (d document) inline(s *spec.Schema, above map[string]bool) (*spec.Schema, error) {
	if ref := reference(s); ref != "" {
		target := d[ref]
		if target == nil {
			return nil, fmt.Errorf("resolve %q: %w", ref, errUnknown)
		}
		if above[ref] {
			return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}, nil
		}
		above[ref] = true
		defer delete(above, ref)
		return d.inline(target, above)
	}
	out := *s
	var err error
	if s.Properties != nil {
		out.Properties = make(map[string]spec.Schema, len(s.Properties))
		for name := range s.Properties {
			child := s.Properties[name]
			whole, err := d.inline(&child, above)
			if err != nil {
				return nil, err
			}
			out.Properties[name] = *whole
		}
	}
	if a := s.AdditionalProperties; a != nil && a.Schema != nil {
		values := *a
		if values.Schema, err = d.inline(a.Schema, above); err != nil {
			return nil, err
		}
		out.AdditionalProperties = &values
	}
	if s.Items != nil && s.Items.Schema != nil {
		items := *s.Items
		if items.Schema, err = d.inline(s.Items.Schema, above); err != nil {
			return nil, err
		}
		out.Items = &items
	}
	return &out, nil
}
