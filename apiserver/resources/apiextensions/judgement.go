package apiextensions

import (
	"context"
	"reflect"
	"slices"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
)

// judgement is how strictly a definition is judged. What an old definition was allowed stays allowed to it.
type judgement struct {
	ctx            context.Context
	schemaRequired bool
	// structural: schemas must be structural.
	structural bool
	knownTypes bool
	// pruned: defaults must not hold what pruning drops.
	pruned bool
	// atomicSets: items of sets must be atomic. listKeys: keys of lists are required or have defaults, and items are no nulls.
	atomicSets, listKeys bool
	reviewVersions       bool
	caBundle             bool
	// fieldsKept are versions ("" for all) whose too many selectable fields did not change, schemasKept those whose schema did not.
	fieldsKept, schemasKept map[string]bool
	// anyCost: the cost of one expression is not judged.
	anyCost bool
	known   known
	env     *environment.EnvSet
}

// environments are costly to make: nobody needs one before the first definition.
var environments = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// newJudge decides how strict to be; old is nil for a new definition.
func newJudge(ctx context.Context, d, old *apiextensions.CustomResourceDefinition) judgement {
	j := judgement{ctx: ctx, schemaRequired: true, structural: true, knownTypes: true, pruned: true, atomicSets: true, listKeys: true, reviewVersions: true,
		env: environments()}
	if old == nil {
		return j
	}
	s := &old.Spec
	j.schemaRequired = allSchemas(s)
	j.structural = !anyRoot(s, nonStructural)
	j.knownTypes = !anySchema(s, unknownType)
	j.pruned = !anyRoot(s, unprunedDefaults)
	j.atomicSets = !anySchema(s, func(n *schemaProps) bool { return len(setItemErrors(n, nil)) > 0 })
	j.listKeys = !anySchema(s, func(n *schemaProps) bool { return len(listKeyErrors(n, field.NewPath(""))) > 0 })
	c := s.Conversion
	j.reviewVersions = c == nil || len(c.ConversionReviewVersions) == 0 || slices.ContainsFunc(c.ConversionReviewVersions, knownReview)
	j.caBundle = apiextensions.IsCRDConditionTrue(old, apiextensions.Established) && !hasBadBundle(c)
	j.known = knownExpressions(s)
	j.schemasKept, j.fieldsKept = kept(d, old)
	return j
}

func (j judgement) ofVersion(name string) judgement {
	j.anyCost = j.anyCost || j.schemasKept[name]
	return j
}

func allSchemas(s *apiextensions.CustomResourceDefinitionSpec) bool {
	if s.Validation != nil && s.Validation.OpenAPIV3Schema != nil {
		return true
	}
	return !anyVersion(s.Versions, func(v *version) bool { return v.Schema == nil || v.Schema.OpenAPIV3Schema == nil })
}

// anyRoot says whether one of the schemas, as a whole, is as asked.
func anyRoot(s *apiextensions.CustomResourceDefinitionSpec, is func(*schemaProps) bool) bool {
	if s.Validation != nil && s.Validation.OpenAPIV3Schema != nil && is(s.Validation.OpenAPIV3Schema) {
		return true
	}
	return anyVersion(s.Versions, func(v *version) bool {
		return v.Schema != nil && v.Schema.OpenAPIV3Schema != nil && is(v.Schema.OpenAPIV3Schema)
	})
}

func nonStructural(s *schemaProps) bool {
	ss, err := structuralschema.NewStructural(s)
	return err != nil || len(structuralschema.ValidateStructural(nil, ss)) > 0
}

func unprunedDefaults(s *schemaProps) bool {
	if !anyNode(s, hasDefault) {
		return false
	}
	ss, err := structuralschema.NewStructural(s)
	if err != nil || len(structuralschema.ValidateStructural(nil, ss)) > 0 {
		return false
	}
	pruned := ss.DeepCopy()
	return defaulting.PruneDefaults(pruned) == nil && !reflect.DeepEqual(ss, pruned)
}

func hasDefault(s *schemaProps) bool { return s.Default != nil }

func hasExtensions(s *schemaProps) bool {
	return s.XEmbeddedResource || s.XPreserveUnknownFields != nil || s.XIntOrString || len(s.XListMapKeys) > 0 || s.XListType != nil || len(s.XValidations) > 0
}

func unknownType(s *schemaProps) bool { return s.Type != "" && !slices.Contains(schemaTypes, s.Type) }

// kept finds the versions whose schema, and those whose too many selectable fields, did not change.
func kept(d, old *apiextensions.CustomResourceDefinition) (schemas, fields map[string]bool) {
	schemas, fields = map[string]bool{}, map[string]bool{}
	same := func(name string, now, before []apiextensions.SelectableField) {
		if len(before) > maxSelectable && equality.Semantic.DeepEqual(now, before) {
			fields[name] = true
		}
	}
	same("", d.Spec.SelectableFields, old.Spec.SelectableFields)
	for _, v := range d.Spec.Versions {
		for _, o := range old.Spec.Versions {
			if o.Name != v.Name {
				continue
			}
			same(v.Name, v.SelectableFields, o.SelectableFields)
			now, err := apiextensions.GetSchemaForVersion(d, v.Name)
			before, oldErr := apiextensions.GetSchemaForVersion(old, v.Name)
			if err == nil && oldErr == nil && equality.Semantic.DeepEqual(now, before) {
				schemas[v.Name] = true
			}
		}
	}
	return schemas, fields
}

// known are the expressions that a definition had before: they may use what stored expressions may.
type known struct{ rules, messages map[string]bool }

func knownExpressions(s *apiextensions.CustomResourceDefinitionSpec) known {
	k := known{map[string]bool{}, map[string]bool{}}
	anySchema(s, func(n *schemaProps) bool {
		for _, v := range n.XValidations {
			k.rules[v.Rule] = true
			k.messages[v.MessageExpression] = v.MessageExpression != ""
		}
		return false
	})
	return k
}

// RuleEnv is the environment that a rule is compiled in.
func (k known) RuleEnv(set *environment.EnvSet, expression string) *celgo.Env {
	if k.rules[expression] {
		return set.StoredExpressionsEnv()
	}
	return set.NewExpressionsEnv()
}

// MessageExpressionEnv is the environment that a message's expression is compiled in.
func (k known) MessageExpressionEnv(set *environment.EnvSet, expression string) *celgo.Env {
	if k.messages[expression] {
		return set.StoredExpressionsEnv()
	}
	return set.NewExpressionsEnv()
}
