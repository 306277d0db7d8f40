package flowcontrol

import (
	"fmt"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// everything is what the mandatory schemas are about, for some groups.
func everything(groups ...string) flowcontrolv1.PolicyRulesWithSubjects {
	all := []string{"*"}
	p := flowcontrolv1.PolicyRulesWithSubjects{
		ResourceRules:    []flowcontrolv1.ResourcePolicyRule{{Verbs: all, APIGroups: all, Resources: all, Namespaces: all, ClusterScope: true}},
		NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: all, NonResourceURLs: all}},
	}
	for _, g := range groups {
		p.Subjects = append(p.Subjects, flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: g}})
	}
	return p
}

// mandatorySchemas are the schemas that are as they are: the one that is never held up, and the one that takes what is left.
var mandatorySchemas = map[string]flowcontrolv1.FlowSchemaSpec{
	flowcontrolv1.FlowSchemaNameExempt: {
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: flowcontrolv1.PriorityLevelConfigurationNameExempt},
		MatchingPrecedence:         1,
		Rules:                      []flowcontrolv1.PolicyRulesWithSubjects{everything("system:masters")},
	},
	flowcontrolv1.FlowSchemaNameCatchAll: {
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: flowcontrolv1.PriorityLevelConfigurationNameCatchAll},
		MatchingPrecedence:         maxPrecedence,
		DistinguisherMethod:        &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
		Rules:                      []flowcontrolv1.PolicyRulesWithSubjects{everything("system:unauthenticated", "system:authenticated")},
	},
}

// mandatoryLevels are their levels.
var mandatoryLevels = map[string]flowcontrolv1.PriorityLevelConfigurationSpec{
	flowcontrolv1.PriorityLevelConfigurationNameExempt: {
		Type:   flowcontrolv1.PriorityLevelEnablementExempt,
		Exempt: &flowcontrolv1.ExemptPriorityLevelConfiguration{NominalConcurrencyShares: ptr.To[int32](0), LendablePercent: ptr.To[int32](0)},
	},
	flowcontrolv1.PriorityLevelConfigurationNameCatchAll: {
		Type: flowcontrolv1.PriorityLevelEnablementLimited,
		Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: ptr.To[int32](5), LendablePercent: ptr.To[int32](0),
			LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}},
	},
}

// validateMandatory: of the exempt level only its share can be chosen.
func validateMandatory(l *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	fixed, ok := mandatoryLevels[l.Name]
	if !ok {
		return nil
	}
	text := "spec of '%s' must equal the fixed value"
	have := l.Spec.DeepCopy()
	if l.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt {
		have.Exempt = fixed.Exempt
		text = "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
	}
	if equality.Semantic.DeepEqual(*have, fixed) {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath, l.Spec, fmt.Sprintf(text, l.Name))}
}
