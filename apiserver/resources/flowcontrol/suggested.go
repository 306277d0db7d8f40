package flowcontrol

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Schemas gives the FlowSchemas that every cluster begins with.
func Schemas() []*flowcontrolv1.FlowSchema {
	var out []*flowcontrolv1.FlowSchema
	for _, specs := range []map[string]flowcontrolv1.FlowSchemaSpec{mandatorySchemas, suggestedSchemas} {
		for name, spec := range specs {
			out = append(out, &flowcontrolv1.FlowSchema{ObjectMeta: kept(name), Spec: *spec.DeepCopy()})
		}
	}
	return out
}

// Levels gives the PriorityLevelConfigurations that every cluster begins with.
func Levels() []*flowcontrolv1.PriorityLevelConfiguration {
	var out []*flowcontrolv1.PriorityLevelConfiguration
	for _, specs := range []map[string]flowcontrolv1.PriorityLevelConfigurationSpec{mandatoryLevels, suggestedLevels} {
		for name, spec := range specs {
			out = append(out, &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: kept(name), Spec: *spec.DeepCopy()})
		}
	}
	return out
}

// Mandatory says whether a schema or level of the name is as it is, whatever its annotations say (KEP-1040).
func Mandatory(name string) bool {
	_, ok := mandatorySchemas[name]
	return ok // their levels have the same names
}

// kept is the metadata of what the server keeps up to date, until somebody says that it is not to.
func kept(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Annotations: map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}}
}

// suggestedSchemas sort requests by who makes them: nodes before controllers before pods before people.
var suggestedSchemas = map[string]flowcontrolv1.FlowSchemaSpec{
	"probes": schema(flowcontrolv1.PriorityLevelConfigurationNameExempt, 2, "", flowcontrolv1.PolicyRulesWithSubjects{
		Subjects:         groups("system:unauthenticated", "system:authenticated"),
		NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz", "/readyz", "/livez"}}},
	}),
	"system-leader-election": schema("leader-election", 100, flowcontrolv1.FlowDistinguisherMethodByUserType, flowcontrolv1.PolicyRulesWithSubjects{
		Subjects:      []flowcontrolv1.Subject{user("system:kube-controller-manager"), user("system:kube-scheduler"), systemAccounts},
		ResourceRules: []flowcontrolv1.ResourcePolicyRule{leases("get", "create", "update")},
	}),
	"system-node-high": schema("node-high", 400, flowcontrolv1.FlowDistinguisherMethodByUserType, flowcontrolv1.PolicyRulesWithSubjects{
		Subjects: groups("system:nodes"),
		ResourceRules: []flowcontrolv1.ResourcePolicyRule{
			{Verbs: anything, APIGroups: []string{""}, Resources: []string{"nodes", "nodes/status"}, Namespaces: anything, ClusterScope: true},
			leases("*"),
		},
	}),
	"system-nodes":                 schema("system", 500, flowcontrolv1.FlowDistinguisherMethodByUserType, everything("system:nodes")),
	"kube-controller-manager":      schema("workload-high", 800, flowcontrolv1.FlowDistinguisherMethodByNamespaceType, everythingOf(user("system:kube-controller-manager"))),
	"kube-scheduler":               schema("workload-high", 800, flowcontrolv1.FlowDistinguisherMethodByNamespaceType, everythingOf(user("system:kube-scheduler"))),
	"kube-system-service-accounts": schema("workload-high", 900, flowcontrolv1.FlowDistinguisherMethodByNamespaceType, everythingOf(systemAccounts)),
	"service-accounts":             schema("workload-low", 9000, flowcontrolv1.FlowDistinguisherMethodByUserType, everything("system:serviceaccounts")),
	"global-default":               schema("global-default", 9900, flowcontrolv1.FlowDistinguisherMethodByUserType, everything("system:unauthenticated", "system:authenticated")),
}

// suggestedLevels are theirs.
var suggestedLevels = map[string]flowcontrolv1.PriorityLevelConfigurationSpec{
	"leader-election": queued(10, 0, 16, 4),
	"node-high":       queued(40, 25, 64, 6),
	"system":          queued(30, 33, 64, 6),
	"workload-high":   queued(40, 50, 128, 6),
	"workload-low":    queued(100, 90, 128, 6),
	"global-default":  queued(20, 50, 128, 6),
}

var (
	anything       = []string{"*"}
	systemAccounts = flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindServiceAccount,
		ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: metav1.NamespaceSystem, Name: "*"}}
)

func schema(level string, precedence int32, method flowcontrolv1.FlowDistinguisherMethodType, rule flowcontrolv1.PolicyRulesWithSubjects) flowcontrolv1.FlowSchemaSpec {
	s := flowcontrolv1.FlowSchemaSpec{MatchingPrecedence: precedence, Rules: []flowcontrolv1.PolicyRulesWithSubjects{rule},
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level}}
	if method != "" {
		s.DistinguisherMethod = &flowcontrolv1.FlowDistinguisherMethod{Type: method}
	}
	return s
}

func user(name string) flowcontrolv1.Subject {
	return flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: name}}
}

func groups(names ...string) []flowcontrolv1.Subject { return everything(names...).Subjects }

func everythingOf(subject flowcontrolv1.Subject) flowcontrolv1.PolicyRulesWithSubjects {
	rule := everything()
	rule.Subjects = []flowcontrolv1.Subject{subject}
	return rule
}

func leases(verbs ...string) flowcontrolv1.ResourcePolicyRule {
	return flowcontrolv1.ResourcePolicyRule{Verbs: verbs, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Namespaces: anything}
}

// queued is a level whose requests wait their turn.
func queued(shares, lendable, queues, hand int32) flowcontrolv1.PriorityLevelConfigurationSpec {
	return flowcontrolv1.PriorityLevelConfigurationSpec{Type: flowcontrolv1.PriorityLevelEnablementLimited,
		Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: ptr.To(shares), LendablePercent: ptr.To(lendable),
			LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeQueue,
				Queuing: &flowcontrolv1.QueuingConfiguration{Queues: queues, HandSize: hand, QueueLengthLimit: 50}}}}
}
