package admissionregistration

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// same compares errors with texts, of which each is the beginning of one.
func same(t *testing.T, name string, errs field.ErrorList, want ...string) {
	t.Helper()
	if len(errs) != len(want) {
		t.Errorf("%s: %v", name, errs)
		return
	}
	for i, e := range errs {
		if !strings.HasPrefix(e.Error(), want[i]) {
			t.Errorf("%s: %v, not %s", name, e, want[i])
		}
	}
}

func goodRule() admissionv1.RuleWithOperations {
	return admissionv1.RuleWithOperations{Operations: []admissionv1.OperationType{"CREATE"}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}
}

func TestRules(t *testing.T) {
	t.Parallel()
	path := field.NewPath("r")
	for _, c := range []struct {
		name   string
		change func(*admissionv1.RuleWithOperations)
		want   []string
	}{
		{"good", func(*admissionv1.RuleWithOperations) {}, nil},
		{"empty", func(r *admissionv1.RuleWithOperations) { *r = admissionv1.RuleWithOperations{} },
			[]string{"r.operations: Required", "r.apiGroups: Required", "r.apiVersions: Required", "r.resources: Required"}},
		{"all and more", func(r *admissionv1.RuleWithOperations) {
			r.Operations, r.APIGroups = []admissionv1.OperationType{"*", "CREATE"}, []string{"*", "a"}
		},
			[]string{`r.operations: Invalid value: ["*","CREATE"]: if '*' is present`, `r.apiGroups: Invalid value: ["*","a"]: if '*' is present`}},
		{"unknown operation", func(r *admissionv1.RuleWithOperations) { r.Operations = []admissionv1.OperationType{"GET"} },
			[]string{`r.operations[0]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`}},
		{"covered subresource", func(r *admissionv1.RuleWithOperations) { r.Resources = []string{"a/*", "a/b", "*/c", "d/c"} },
			[]string{`r.resources[1]: Invalid value: "a/b": if 'a/*' is present`, `r.resources[3]: Invalid value: "d/c": if '*/c' is present`}},
		{"covered resource", func(r *admissionv1.RuleWithOperations) { r.Resources = []string{"*", "a"} }, []string{`r.resources: Invalid value: ["*","a"]: if '*' is present`}},
		{"scope", func(r *admissionv1.RuleWithOperations) { r.Scope = ptr.To(admissionv1.ScopeType("X")) }, []string{`r.scope: Unsupported value: "X": supported values: "*", "Cluster", "Namespaced"`}},
	} {
		r := goodRule()
		c.change(&r)
		same(t, c.name, validateRule(path, &r), c.want...)
	}
}

func policyOf(change func(*admissionv1.ValidatingAdmissionPolicySpec)) *admissionv1.ValidatingAdmissionPolicy {
	p := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: goodRule()}}},
		Validations:      []admissionv1.Validation{{Expression: "true"}},
	}}
	change(&p.Spec)
	ValidatingAdmissionPolicy.Default(p)
	return p
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	type spec = admissionv1.ValidatingAdmissionPolicySpec
	for _, c := range []struct {
		name   string
		change func(*spec)
		want   []string
	}{
		{"good", func(*spec) {}, nil},
		{"nothing to do", func(s *spec) { s.Validations = nil }, []string{"spec.validations: Required", "spec.auditAnnotations: Required"}},
		{"no rules", func(s *spec) { s.MatchConstraints = &admissionv1.MatchResources{} }, []string{"spec.matchConstraints.resourceRules: Required"}},
		{"syntax", func(s *spec) { s.Validations[0].Expression = "object." },
			[]string{`spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative`}},
		{"type", func(s *spec) { s.Validations[0].Expression = "1" }, []string{`spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int`}},
		{"params without a kind", func(s *spec) { s.Validations[0].Expression = "params.x" },
			[]string{`spec.validations[0].expression: Invalid value: "params.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params'`}},
		{"message", func(s *spec) { s.Validations[0].Message, s.Validations[0].MessageExpression = "a\nb", "1" },
			[]string{`spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int`, `spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks`}},
		{"variables", func(s *spec) {
			s.Variables = []admissionv1.Variable{{Name: "in", Expression: "1"}, {Name: "a", Expression: "variables.b"}}
		},
			[]string{`spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier`, `spec.variables[1].expression: Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: undefined field 'b'`}},
		{"conditions know no variables", func(s *spec) {
			s.Variables = []admissionv1.Variable{{Name: "a", Expression: "1"}}
			s.MatchConditions = []admissionv1.MatchCondition{{Name: "c", Expression: "variables.a == 1"}, {Name: "c", Expression: "true"}}
		}, []string{`spec.matchConditions[0].expression: Invalid value: "variables.a == 1": compilation failed`, `spec.matchConditions[1].name: Duplicate value: "c"`}},
		{"param kind", func(s *spec) { s.ParamKind = &admissionv1.ParamKind{APIVersion: "a/b/c", Kind: "A b"} },
			[]string{`spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`, `spec.paramKind.kind: Invalid value: "A b": may have mixed case`}},
		{"annotations", func(s *spec) { s.AuditAnnotations = []admissionv1.AuditAnnotation{{Key: "a", ValueExpression: "1"}} },
			[]string{`spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int`}},
	} {
		same(t, c.name, validatePolicy(policyOf(c.change), stored{}), c.want...)
	}
}

func TestMutations(t *testing.T) {
	t.Parallel()
	p := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	p.Spec.MatchConstraints = policyOf(func(*admissionv1.ValidatingAdmissionPolicySpec) {}).Spec.MatchConstraints
	p.Spec.MatchConstraints.ResourceRules[0].Operations = []admissionv1.OperationType{"DELETE"}
	p.Spec.Mutations = []admissionv1.Mutation{
		{PatchType: "X"}, {PatchType: "JSONPatch"},
		{PatchType: "ApplyConfiguration", ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: "1"}},
		{PatchType: "ApplyConfiguration", ApplyConfiguration: &admissionv1.ApplyConfiguration{Expression: "Object{spec: Object.spec{replicas: 1337}}"}},
		{PatchType: "JSONPatch", JSONPatch: &admissionv1.JSONPatch{Expression: "[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: 1}]"}},
	}
	MutatingAdmissionPolicy.Default(p)
	same(t, "mutations", validateMutatingPolicy(p, stored{}),
		`spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE"`,
		`spec.mutations[0].patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"`,
		"spec.mutations[1].jsonPatch: Required value: must be specified when patchType is JSONPatch",
		`spec.mutations[2].applyConfiguration.expression: Invalid value: "1": must evaluate to Object but got int`,
		"spec.reinvocationPolicy: Required value")
}

func TestBindings(t *testing.T) {
	t.Parallel()
	b := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		ValidationActions: []admissionv1.ValidationAction{"Deny", "Warn", "Deny", "X"}, ParamRef: &admissionv1.ParamRef{}}}
	same(t, "binding", validateBinding(b), "spec.policyName: Required",
		"spec.paramRef: Required value: one of name or selector must be specified", "spec.paramRef.parameterNotFoundAction: Required",
		`spec.validationActions[2]: Duplicate value: "Deny"`, `spec.validationActions[3]: Unsupported value: "X": supported values: "Audit", "Deny", "Warn"`,
		`spec.validationActions: Invalid value: ["Deny","Warn","Deny","X"]: must not contain both Deny and Warn`)
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	bad := admissionv1.ValidatingWebhook{Name: "a", TimeoutSeconds: ptr.To[int32](31), AdmissionReviewVersions: []string{"v9"},
		ClientConfig:    admissionv1.WebhookClientConfig{URL: ptr.To("http://u@h/x?a=b#c")},
		MatchConditions: []admissionv1.MatchCondition{{Name: "c", Expression: "object."}}}
	c := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Webhooks: []admissionv1.ValidatingWebhook{bad}}
	ValidatingWebhookConfiguration.Default(c)
	hooks := commonHooks(c.Webhooks)
	same(t, "new", validateWebhooks(c, hooks, strictHooks()),
		`webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots`,
		"webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
		"webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
		`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme`,
		`webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL`,
		`webhooks[0].clientConfig.url: Invalid value: "c": fragments are not permitted in the URL`,
		`webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL`,
		`webhooks[0].matchConditions[0].expression: Invalid value: "object.": compilation failed`,
		`webhooks[0].admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1`)
	// What was stored before a rule came may stay.
	s := asBefore(hooks, hooks)
	if s.conditions || s.noSideEffects || s.knownVersion || !s.uniqueNames {
		t.Errorf("%+v", s)
	}
}

func TestReservedNames(t *testing.T) {
	t.Parallel()
	if errs := reserved("x.static.k8s.io"); len(errs) != 1 || reserved("x.k8s.io") != nil {
		t.Error(errs)
	}
}
