package apiextensions

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

var rootFieldsText = fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled", rootFields)

// unsupported refuses what OpenAPI knows and a definition may not say.
func (n node) unsupported() field.ErrorList {
	s := n.schema
	var errs field.ErrorList
	forbid := func(bad bool, child, why string) {
		if bad {
			errs = append(errs, field.Forbidden(n.path.Child(child), why))
		}
	}
	if n.knownTypes && unknownType(s) {
		errs = append(errs, field.NotSupported(n.path.Child("type"), s.Type, schemaTypes))
	}
	why := "must not be set"
	if n.noDefaults != "" {
		why += " " + n.noDefaults
	}
	forbid(s.Default != nil && !n.defaults, "default", why)
	forbid(s.ID != "", "id", "id is not supported")
	forbid(s.AdditionalItems != nil, "additionalItems", "additionalItems is not supported")
	forbid(len(s.PatternProperties) != 0, "patternProperties", "patternProperties is not supported")
	forbid(len(s.Definitions) != 0, "definitions", "definitions is not supported")
	forbid(s.Dependencies != nil, "dependencies", "dependencies is not supported")
	forbid(s.Ref != nil, "$ref", "$ref is not supported")
	forbid(s.Type == "null", "type", "type cannot be set to null, use nullable as an alternative")
	forbid(s.Items != nil && len(s.Items.JSONSchemas) != 0, "items", "items must be a schema object and not an array")
	forbid(n.meta && s.XEmbeddedResource, "x-kubernetes-embedded-resource", "must not be used inside of resource meta")
	return errs
}

// extensions judges the x-kubernetes- fields but for rules.
func (n node) extensions() field.ErrorList {
	s := n.schema
	var errs field.ErrorList
	if s.XPreserveUnknownFields != nil && !*s.XPreserveUnknownFields {
		errs = append(errs, field.Invalid(n.path.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"))
	}
	errs = append(errs, n.typed(s.XMapType, "object", "x-kubernetes-map-type", "atomic", "granular")...)
	if s.XListType != nil && s.Type == "array" && n.atomicSets {
		errs = append(errs, setItemErrors(s, n.path)...)
	}
	errs = append(errs, n.typed(s.XListType, "array", "x-kubernetes-list-type", "atomic", "set", "map")...)
	if len(s.XListMapKeys) > 0 {
		const why = "must be map if x-kubernetes-list-map-keys is non-empty"
		switch at := n.path.Child("x-kubernetes-list-type"); {
		case s.XListType == nil:
			errs = append(errs, field.Required(at, why))
		case *s.XListType != "map":
			errs = append(errs, field.Invalid(at, *s.XListType, why))
		}
	}
	if ptr.Deref(s.XListType, "") == "map" {
		errs = append(errs, n.listMap()...)
	}
	return errs
}

// typed judges an extension that needs a type and has a set of values.
func (n node) typed(value *string, kind, name string, values ...string) field.ErrorList {
	if value == nil {
		return nil
	}
	var errs field.ErrorList
	if n.schema.Type != kind {
		at, why := n.path.Child("type"), fmt.Sprintf("must be %s if %s is specified", kind, name)
		if n.schema.Type == "" {
			errs = append(errs, field.Required(at, why))
		} else {
			errs = append(errs, field.Invalid(at, n.schema.Type, why))
		}
	}
	if !slices.Contains(values, *value) {
		errs = append(errs, field.NotSupported(n.path.Child(name), *value, values))
	}
	return errs
}

// setItemErrors: the items of a set must be values that are compared as a whole.
func setItemErrors(s *schemaProps, path *field.Path) field.ErrorList {
	if ptr.Deref(s.XListType, "") != "set" || s.Items == nil || s.Items.Schema == nil {
		return nil
	}
	items := s.Items.Schema
	const why = "must be atomic as item of a list with x-kubernetes-list-type=set"
	at := func(name string) *field.Path {
		if path == nil {
			return nil
		}
		return path.Child("items", name)
	}
	switch {
	case items.Type == "array" && items.XListType != nil && *items.XListType != "atomic":
		return field.ErrorList{field.Invalid(at("x-kubernetes-list-type"), items.XListType, why)}
	case items.Type == "object" && (items.XMapType == nil || *items.XMapType != "atomic"):
		return field.ErrorList{field.Invalid(at("x-kubernetes-map-type"), items.XListType, why)}
	}
	return nil
}

// listMap judges a list whose items have keys.
func (n node) listMap() field.ErrorList {
	s := n.schema
	keys, items := n.path.Child("x-kubernetes-list-map-keys"), n.path.Child("items")
	var errs field.ErrorList
	if len(s.XListMapKeys) == 0 {
		errs = append(errs, field.Required(keys, "must not be empty if x-kubernetes-list-type is map"))
	}
	switch {
	case s.Items == nil:
		return append(errs, field.Required(items, "must have a schema if x-kubernetes-list-type is map"))
	case s.Items.Schema == nil:
		return append(errs, field.Invalid(items, s.Items, "must only have a single schema if x-kubernetes-list-type is map"))
	case s.Items.Schema.Type != "object":
		return append(errs, field.Invalid(items.Child("type"), s.Items.Schema.Type, "must be object if parent array's x-kubernetes-list-type is map"))
	}
	for i, k := range s.XListMapKeys {
		p, ok := s.Items.Schema.Properties[k]
		switch {
		case !ok:
			errs = append(errs, field.Invalid(keys, s.XListMapKeys, "entries must all be names of item properties"))
		case p.Type == "array" || p.Type == "object":
			errs = append(errs, field.Invalid(items.Child("properties").Key(k).Child("type"), s.Items.Schema.Type,
				"must be a scalar type if parent array's x-kubernetes-list-type is map"))
		}
		if slices.Contains(s.XListMapKeys[:i], k) {
			errs = append(errs, field.Invalid(keys, s.XListMapKeys, "must not contain duplicate entries"))
		}
	}
	return errs
}

// listKeyErrors: items of sets and maps are no nulls, and the keys of maps are always there.
func listKeyErrors(s *schemaProps, path *field.Path) field.ErrorList {
	kind := ptr.Deref(s.XListType, "")
	if s.Items == nil || s.Items.Schema == nil || (kind != "set" && kind != "map") {
		return nil
	}
	items := s.Items.Schema
	var errs field.ErrorList
	if items.Nullable {
		errs = append(errs, field.Forbidden(path.Child("items", "nullable"), "cannot be nullable when x-kubernetes-list-type is "+kind))
	}
	if kind == "set" {
		return errs
	}
	for _, k := range s.XListMapKeys {
		p, ok := items.Properties[k]
		if !ok {
			continue
		}
		at := path.Child("items", "properties").Key(k)
		if p.Default == nil && !slices.Contains(items.Required, k) {
			errs = append(errs, field.Required(at.Child("default"), "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
		if p.Nullable {
			errs = append(errs, field.Forbidden(at.Child("nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"))
		}
	}
	return errs
}
