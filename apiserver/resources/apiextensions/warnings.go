package apiextensions

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/utils/ptr"
)

// warnings tells what a schema says in vain. What the old definition said already is not told again.
func warnings(d, old *apiextensionsv1.CustomResourceDefinition) []string {
	n, err := Internal(d)
	if err != nil {
		return nil // validation says so
	}
	var before []string
	if old != nil {
		o, err := Internal(old)
		if err != nil {
			return nil
		}
		before = append(unknownFormats(&o.Spec), unmergeableSets(&o.Spec)...)
	}
	return slices.DeleteFunc(append(unknownFormats(&n.Spec), unmergeableSets(&n.Spec)...), func(w string) bool { return slices.Contains(before, w) })
}

func unknownFormats(s *apiextensions.CustomResourceDefinitionSpec) []string {
	var out []string
	anySchema(s, func(n *schemaProps) bool {
		if n.Format == "" {
			return false
		}
		as := &spec.Schema{SchemaProps: spec.SchemaProps{Format: n.Format, Type: []string{n.Type}}}
		for _, f := range schemavalidation.GetUnrecognizedFormats(as, environment.DefaultCompatibilityVersion()) {
			out = append(out, fmt.Sprintf("unrecognized format %q", f))
		}
		return false
	})
	return out
}

func unmergeableSets(s *apiextensions.CustomResourceDefinitionSpec) []string {
	var out []string
	anySchema(s, func(n *schemaProps) bool {
		if ptr.Deref(n.XListType, "") == "set" && n.Items != nil && n.Items.Schema != nil && (n.Items.Schema.Type == "object" || n.Items.Schema.Type == "array") {
			out = append(out, fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", n.Items.Schema.Type))
		}
		return false
	})
	slices.Sort(out)
	return slices.Compact(out)
}
