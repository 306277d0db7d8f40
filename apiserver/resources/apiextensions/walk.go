package apiextensions

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// schemaProps is one node of a schema.
type schemaProps = apiextensions.JSONSchemaProps

// anySchema says whether a node of any of the definition's schemas is as asked.
func anySchema(spec *apiextensions.CustomResourceDefinitionSpec, is func(*schemaProps) bool) bool {
	if spec.Validation != nil && anyNode(spec.Validation.OpenAPIV3Schema, is) {
		return true
	}
	for i := range spec.Versions {
		if s := spec.Versions[i].Schema; s != nil && anyNode(s.OpenAPIV3Schema, is) {
			return true
		}
	}
	return false
}

// anyNode says whether the node or one below it is as asked. Nodes are not to be changed.
func anyNode(s *schemaProps, is func(*schemaProps) bool) bool {
	if s == nil {
		return false
	}
	if is(s) {
		return true
	}
	if s.Items != nil && (anyNode(s.Items.Schema, is) || anyOf(s.Items.JSONSchemas, is)) {
		return true
	}
	if anyOf(s.AllOf, is) || anyOf(s.AnyOf, is) || anyOf(s.OneOf, is) || anyNode(s.Not, is) {
		return true
	}
	if anyNamed(s.Properties, is) || anyNamed(s.PatternProperties, is) || anyNamed(s.Definitions, is) {
		return true
	}
	if s.AdditionalProperties != nil && anyNode(s.AdditionalProperties.Schema, is) {
		return true
	}
	if s.AdditionalItems != nil && anyNode(s.AdditionalItems.Schema, is) {
		return true
	}
	for _, d := range s.Dependencies {
		if anyNode(d.Schema, is) {
			return true
		}
	}
	return false
}

func anyOf(list []schemaProps, is func(*schemaProps) bool) bool {
	for i := range list {
		if anyNode(&list[i], is) {
			return true
		}
	}
	return false
}

func anyNamed[M ~map[string]schemaProps](named M, is func(*schemaProps) bool) bool {
	for _, s := range named {
		if anyNode(&s, is) {
			return true
		}
	}
	return false
}
