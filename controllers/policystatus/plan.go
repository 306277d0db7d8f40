package policystatus

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/kogge-dev/kogge/internal/expression"
)

// maxKinds is how many kinds an expression is looked at with. Upstream's bound.
const maxKinds = 10

// Kind is a kind that a policy may meet, and its type; nil: nothing is known of it.
type Kind struct {
	GVK  schema.GroupVersionKind
	Type *apiservercel.DeclType
}

// Warnings tells what is wrong with a policy's validations for each of the kinds. params is the type of its parameters.
func Warnings(p *admissionv1.ValidatingAdmissionPolicy, kinds []Kind, params *apiservercel.DeclType) []admissionv1.ExpressionWarning {
	var out []admissionv1.ExpressionWarning
	path := field.NewPath("spec", "validations")
	for i, v := range p.Spec.Validations {
		for _, e := range []struct{ name, source string }{{"expression", v.Expression}, {"messageExpression", v.MessageExpression}} {
			if e.source == "" {
				continue
			}
			if text := warning(p, e.source, kinds, params); text != "" {
				out = append(out, admissionv1.ExpressionWarning{FieldRef: path.Index(i).Child(e.name).String(), Warning: text})
			}
		}
	}
	return out
}

func warning(p *admissionv1.ValidatingAdmissionPolicy, source string, kinds []Kind, params *apiservercel.DeclType) string {
	var texts []string
	for _, k := range kinds {
		text, err := expression.Check(source, p.Spec.Variables, expression.Typed{Object: k.Type, ParamsType: params, Params: p.Spec.ParamKind != nil})
		switch {
		case err != nil:
			texts = append(texts, fmt.Sprintf("%v: type checking error: fail to build env: %v\n", k.GVK, err))
		case text != "":
			texts = append(texts, fmt.Sprintf("%v: %s\n", k.GVK, text))
		}
	}
	return strings.Join(texts, "\n")
}

// Resources are those that a policy names one by one; wildcards and subresources are not looked at.
func Resources(p *admissionv1.ValidatingAdmissionPolicy) [][]schema.GroupVersionResource {
	if p.Spec.MatchConstraints == nil {
		return nil
	}
	var out [][]schema.GroupVersionResource
	for _, r := range p.Spec.MatchConstraints.ResourceRules {
		if slices.ContainsFunc(slices.Concat(r.APIGroups, r.APIVersions), func(s string) bool { return strings.Contains(s, "*") }) {
			continue
		}
		var rule []schema.GroupVersionResource
		for _, g := range slices.Sorted(slices.Values(r.APIGroups)) {
			for _, v := range slices.Sorted(slices.Values(r.APIVersions)) {
				for _, name := range slices.Sorted(slices.Values(r.Resources)) {
					if !strings.ContainsAny(name, "*/") {
						rule = append(rule, schema.GroupVersionResource{Group: g, Version: v, Resource: name})
					}
				}
			}
		}
		out = append(out, rule)
	}
	return out
}

// Sorted orders kinds by group, version and kind, each once.
func Sorted(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.Group+"\x00"+a.Version+"\x00"+a.Kind, b.Group+"\x00"+b.Version+"\x00"+b.Kind)
	})
	return slices.Compact(kinds)
}

// ParamKind of a policy; empty: it has none.
func ParamKind(p *admissionv1.ValidatingAdmissionPolicy) schema.GroupVersionKind {
	if p.Spec.ParamKind == nil {
		return schema.GroupVersionKind{}
	}
	gv, err := schema.ParseGroupVersion(p.Spec.ParamKind.APIVersion)
	if err != nil {
		return schema.GroupVersionKind{}
	}
	return gv.WithKind(p.Spec.ParamKind.Kind)
}
