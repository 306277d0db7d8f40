package admissionregistration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defaults of webhooks.
const (
	defaultPort    = 443
	defaultTimeout = 10 // seconds
)

// fill sets what is not given.
func fill[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

func defaultScope(r *admissionv1.Rule) { fill(&r.Scope, admissionv1.AllScopes) }

func defaultMatch(m *admissionv1.MatchResources) {
	if m == nil {
		return
	}
	fill(&m.MatchPolicy, admissionv1.Equivalent)
	fill(&m.NamespaceSelector, metav1.LabelSelector{})
	fill(&m.ObjectSelector, metav1.LabelSelector{})
	for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
		for i := range rules {
			defaultScope(&rules[i].Rule)
		}
	}
}

// hook is what the two kinds of webhooks have in common.
type hook struct {
	failure                         **admissionv1.FailurePolicyType
	match                           **admissionv1.MatchPolicyType
	namespaceSelector, objectSelect **metav1.LabelSelector
	timeout                         **int32
	service                         *admissionv1.ServiceReference
	rules                           []admissionv1.RuleWithOperations
}

func (h hook) setDefaults() {
	fill(h.failure, admissionv1.Fail)
	fill(h.match, admissionv1.Equivalent)
	fill(h.namespaceSelector, metav1.LabelSelector{})
	fill(h.objectSelect, metav1.LabelSelector{})
	fill(h.timeout, defaultTimeout)
	if h.service != nil {
		fill(&h.service.Port, defaultPort)
	}
	for i := range h.rules {
		defaultScope(&h.rules[i].Rule)
	}
}
