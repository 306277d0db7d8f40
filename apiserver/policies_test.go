package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver"
)

// rulesFor selects writes of one resource.
func rulesFor(group, name string) *registrationv1.MatchResources {
	return &registrationv1.MatchResources{ResourceRules: []registrationv1.NamedRuleWithOperations{{RuleWithOperations: registrationv1.RuleWithOperations{
		Operations: []registrationv1.OperationType{"*"},
		Rule:       registrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{name}},
	}}}}
}

// bindPolicy creates a validating policy and its binding.
func bindPolicy(t *testing.T, c kubernetes.Interface, name string, spec registrationv1.ValidatingAdmissionPolicySpec, params *registrationv1.ParamRef, actions ...registrationv1.ValidationAction) {
	t.Helper()
	api := c.AdmissionregistrationV1()
	if spec.MatchConstraints == nil {
		spec.MatchConstraints = rulesFor("", "configmaps")
	}
	_, err := api.ValidatingAdmissionPolicies().Create(t.Context(), &registrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.ValidatingAdmissionPolicyBindings().Create(t.Context(), &registrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: registrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ParamRef: params, ValidationActions: actions}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// named is the condition that an object's name begins with a text.
func named(text string) []registrationv1.MatchCondition {
	return []registrationv1.MatchCondition{{Name: "named", Expression: "request.name.startsWith('" + text + "')"}}
}

const mapsPath = "/api/v1/namespaces/default/configmaps"

// postMap creates a ConfigMap.
func postMap(t *testing.T, s *apiserver.Server, name, data string) (int, http.Header, string) {
	t.Helper()
	return call(t, s, "POST", mapsPath, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`"},"data":{`+data+`}}`)
}

func TestValidatingPolicies(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	type spec = registrationv1.ValidatingAdmissionPolicySpec
	check := func(e string) []registrationv1.Validation { return []registrationv1.Validation{{Expression: e}} }
	deny := registrationv1.Deny
	bindPolicy(t, c, "plain", spec{MatchConditions: named("plain"), Validations: check("object.data.a == 'b'")}, nil, deny)
	bindPolicy(t, c, "reason", spec{MatchConditions: named("reason"), Validations: []registrationv1.Validation{{Expression: "false", Reason: ptr.To(metav1.StatusReasonForbidden), MessageExpression: "'no ' + object.data.a"}}}, nil, deny)
	bindPolicy(t, c, "broken", spec{MatchConditions: named("broken"), Validations: []registrationv1.Validation{{Expression: "false", MessageExpression: "object.data.a + string(1/0)", Message: "fallback"}}}, nil, deny)
	bindPolicy(t, c, "fails", spec{MatchConditions: named("fails"), Validations: check("object.data.none == 'x'")}, nil, deny)
	bindPolicy(t, c, "ignores", spec{MatchConditions: named("ignores"), FailurePolicy: ptr.To(registrationv1.Ignore), Validations: check("object.data.none == 'x'")}, nil, deny)
	bindPolicy(t, c, "warns", spec{MatchConditions: named("warns"), Validations: check("false")}, nil, registrationv1.Warn)
	bindPolicy(t, c, "variables", spec{MatchConditions: named("variables"), Variables: []registrationv1.Variable{{Name: "n", Expression: "size(object.data)"}}, Validations: check("variables.n > 1")}, nil, deny)
	bindPolicy(t, c, "namespace", spec{MatchConditions: named("namespace"), Validations: check("namespaceObject.metadata.name == 'default' && request.namespace == 'default'")}, nil, deny)
	bindPolicy(t, c, "authorizer", spec{MatchConditions: named("authorizer"), Validations: check("authorizer.group('').resource('pods').check('create').allowed() && authorizer.requestResource.check('create').allowed()")}, nil, deny)
	for _, x := range []struct {
		name, data string
		code       int
		text       string
	}{
		{"other", ``, 201, ""},
		{"plain-good", `"a":"b"`, 201, ""},
		{"plain-bad", `"a":"c"`, 422, "ValidatingAdmissionPolicy 'plain' with binding 'plain' denied request: failed expression: object.data.a == 'b'"},
		{"reason", `"a":"c"`, 403, "denied request: no c"},
		{"broken", `"a":"c"`, 422, "denied request: fallback"},
		{"fails", `"a":"c"`, 422, "denied request: expression 'object.data.none == 'x'' resulted in error: no such key: none"},
		{"ignores", `"a":"c"`, 201, ""},
		{"warns", ``, 201, ""},
		{"variables-good", `"a":"b","c":"d"`, 201, ""},
		{"variables-bad", `"a":"b"`, 422, "failed expression: variables.n "},
		{"namespace", ``, 201, ""},
		{"authorizer", ``, 201, ""},
	} {
		code, head, body := postMap(t, s, x.name, x.data)
		if code != x.code || !strings.Contains(body, x.text) {
			t.Errorf("%s: %d %s", x.name, code, body)
		}
		if warned := head.Get("Warning"); (x.name == "warns") != strings.Contains(warned, "Validation failed for ValidatingAdmissionPolicy 'warns' with binding 'warns': failed expression: false") {
			t.Errorf("%s: warning %q", x.name, warned)
		}
	}
}

// TestPoliciesComeAndGo: a policy is in force with the next write after its binding came, and no longer after it went.
func TestPoliciesComeAndGo(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	bindPolicy(t, c, "p", registrationv1.ValidatingAdmissionPolicySpec{MatchConditions: named("x"), Validations: []registrationv1.Validation{{Expression: "request.operation != 'DELETE' && oldObject == null"}}}, nil, registrationv1.Deny)
	want := func(code int, got int, body string) {
		t.Helper()
		if got != code {
			t.Errorf("%d %s", got, body)
		}
	}
	code, _, body := postMap(t, s, "x", `"a":"b"`)
	want(201, code, body)
	code, _, body = call(t, s, "PATCH", mapsPath+"/x", "application/merge-patch+json", `{"data":{"a":"c"}}`)
	want(422, code, body)
	code, _, body = call(t, s, "DELETE", mapsPath+"/x", "application/json", "")
	want(422, code, body)
	// Policies and their bindings are never judged, not even by one that denies everything.
	bindPolicy(t, c, "all", registrationv1.ValidatingAdmissionPolicySpec{MatchConstraints: rulesFor("*", "*"), Validations: []registrationv1.Validation{{Expression: "false"}}}, nil, registrationv1.Deny)
	for _, name := range []string{"p", "all"} {
		if err := c.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	code, _, body = call(t, s, "DELETE", mapsPath+"/x", "application/json", "")
	want(200, code, body)
}

func TestPolicyParameters(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	for name, value := range map[string]string{"param-a": "x", "param-b": "y"} {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"param": "yes"}}, Data: map[string]string{"a": value}}
		if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	kind := &registrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	bind := func(name string, kind *registrationv1.ParamKind, ref *registrationv1.ParamRef) {
		match := rulesFor("", "configmaps")
		match.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"by": name}}
		bindPolicy(t, c, name, registrationv1.ValidatingAdmissionPolicySpec{ParamKind: kind, MatchConstraints: match,
			Validations: []registrationv1.Validation{{Expression: "params == null || object.data.a == params.data.a", MessageExpression: "'want ' + params.data.a + ' of ' + params.kind"}}}, ref, registrationv1.Deny)
	}
	allow, deny := ptr.To(registrationv1.AllowAction), ptr.To(registrationv1.DenyAction)
	bind("name", kind, &registrationv1.ParamRef{Name: "param-a", ParameterNotFoundAction: deny})
	bind("selector", kind, &registrationv1.ParamRef{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"param": "yes"}}, ParameterNotFoundAction: deny})
	bind("elsewhere", kind, &registrationv1.ParamRef{Name: "param-a", Namespace: "kube-system", ParameterNotFoundAction: deny})
	bind("allowed", kind, &registrationv1.ParamRef{Name: "none", ParameterNotFoundAction: allow})
	bind("none", kind, nil)
	bind("unknown", &registrationv1.ParamKind{APIVersion: "none.example.com/v1", Kind: "None"}, &registrationv1.ParamRef{Name: "x", ParameterNotFoundAction: allow})
	bind("cluster", &registrationv1.ParamKind{APIVersion: "v1", Kind: "Node"}, &registrationv1.ParamRef{Name: "x", Namespace: "default", ParameterNotFoundAction: allow})
	for _, x := range []struct {
		by, value string
		code      int
		text      string
	}{
		{"name", "x", 201, ""},
		{"name", "z", 422, "denied request: want x of ConfigMap"},
		{"selector", "x", 422, "denied request: want y of ConfigMap"},
		{"elsewhere", "x", 422, "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
		{"allowed", "x", 201, ""},
		{"none", "x", 201, ""},
		{"unknown", "x", 422, "failed to configure policy: failed to find resource referenced by paramKind: 'none.example.com/v1, Kind=None'"},
		{"cluster", "x", 422, "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"},
	} {
		code, _, body := call(t, s, "POST", mapsPath, "application/json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"m-","labels":{"by":"`+x.by+`"}},"data":{"a":"`+x.value+`"}}`)
		if code != x.code || !strings.Contains(body, x.text) {
			t.Errorf("%s: %d %s", x.by, code, body)
		}
	}
}

// bindMutation creates a mutating policy and its binding.
func bindMutation(t *testing.T, c kubernetes.Interface, name string, again registrationv1.ReinvocationPolicyType, match *registrationv1.MatchResources, mutations ...registrationv1.Mutation) {
	t.Helper()
	for i := range match.ResourceRules {
		match.ResourceRules[i].Operations = []registrationv1.OperationType{"CREATE"}
	}
	p := &registrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: registrationv1.MutatingAdmissionPolicySpec{
		ReinvocationPolicy: again, MatchConstraints: match, MatchConditions: named(strings.TrimRight(name, "0123456789")), Mutations: mutations}}
	if _, err := c.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b := &registrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: registrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name}}
	if _, err := c.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestMutatingPolicies(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	apply := func(e string) registrationv1.Mutation {
		return registrationv1.Mutation{PatchType: registrationv1.PatchTypeApplyConfiguration, ApplyConfiguration: &registrationv1.ApplyConfiguration{Expression: e}}
	}
	patch := func(e string) registrationv1.Mutation {
		return registrationv1.Mutation{PatchType: registrationv1.PatchTypeJSONPatch, JSONPatch: &registrationv1.JSONPatch{Expression: e}}
	}
	never, again := registrationv1.NeverReinvocationPolicy, registrationv1.IfNeededReinvocationPolicy
	maps := func() *registrationv1.MatchResources { return rulesFor("", "configmaps") }
	bindMutation(t, c, "apply", never, maps(), apply("Object{data: Object.data{x: 'y'}}"))
	bindMutation(t, c, "patch", never, maps(), patch("[JSONPatch{op: 'test', path: '/data/a', value: 'b'}, JSONPatch{op: 'add', path: '/data/x', value: object.data.a + '!'}]"))
	bindMutation(t, c, "both", never, maps(), apply("Object{data: Object.data{first: '1'}}"), patch("[JSONPatch{op: 'add', path: '/data/second', value: object.data.first + '2'}]"))
	bindMutation(t, c, "again1", again, maps(), apply("Object{data: Object.data{one: 'two' in object.data ? 'saw two' : 'alone'}}"))
	bindMutation(t, c, "again2", never, maps(), apply("Object{data: Object.data{two: '2'}}"))
	bindMutation(t, c, "wrong", never, maps(), apply("Object{spec: Object.spec{x: 'y'}}"))
	bindMutation(t, c, "deployment", never, rulesFor("apps", "deployments"), apply("Object{spec: Object.spec{replicas: 1337}}"))
	for _, x := range []struct {
		name, data string
		code       int
		text       string
	}{
		{"other", `"a":"b"`, 201, `"data":{"a":"b"}`},
		{"apply", `"a":"b"`, 201, `"data":{"a":"b","x":"y"}`},
		{"patch", `"a":"b"`, 201, `"data":{"a":"b","x":"b!"}`},
		{"patch-not", `"a":"c"`, 201, `"data":{"a":"c"}`},
		{"both", `"a":"b"`, 201, `"data":{"a":"b","first":"1","second":"12"}`},
		{"again", `"a":"b"`, 201, `"data":{"a":"b","one":"saw two","two":"2"}`},
		{"wrong", `"a":"b"`, 403, `policy 'wrong' with binding 'wrong' denied request: error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema`},
	} {
		if code, _, body := postMap(t, s, x.name, x.data); code != x.code || !strings.Contains(body, x.text) {
			t.Errorf("%s: %d %s", x.name, code, body)
		}
	}
	code, _, body := call(t, s, "POST", "/apis/apps/v1/namespaces/default/deployments", "application/json", strings.Replace(strings.Replace(twoPorts, `"name":"d"`, `"name":"deployment"`, 1), "q", "r", 1))
	if code != 201 || !strings.Contains(body, `"replicas":1337`) {
		t.Errorf("%d %s", code, body)
	}
}

// TestEndpointsAreJudgedByWhatTheyAreSent: a scale, a binding, an eviction, the options of a connection.
func TestEndpointsAreJudgedByWhatTheyAreSent(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	if _, err := c.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	if _, err := c.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if code, _, body := call(t, s, "POST", "/apis/apps/v1/namespaces/default/deployments", "application/json", twoPorts); code != 201 {
		t.Fatal(code, body)
	}
	said := []registrationv1.Validation{{Expression: "false", MessageExpression: "request.operation + ' ' + request.subResource + ' ' + request.kind.kind"}}
	for name, match := range map[string]*registrationv1.MatchResources{"pods": rulesFor("", "pods/*"), "scale": rulesFor("apps", "deployments/scale"), "token": rulesFor("", "serviceaccounts/token")} {
		bindPolicy(t, c, name, registrationv1.ValidatingAdmissionPolicySpec{MatchConstraints: match, Validations: said}, nil, registrationv1.Deny)
	}
	const core = "/api/v1/namespaces/default/"
	for _, x := range []struct{ method, path, body, want string }{
		{"POST", core + "pods/p/binding", `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, "CREATE binding Binding"},
		{"POST", core + "pods/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`, "CREATE eviction Eviction"},
		{"POST", core + "pods/p/exec?command=x&stdout=1", ``, "CONNECT exec PodExecOptions"},
		{"POST", core + "pods/p/attach?stdout=1", ``, "CONNECT attach PodAttachOptions"},
		{"POST", core + "pods/p/portforward", ``, "CONNECT portforward PodPortForwardOptions"},
		{"PATCH", core + "pods/p/status", `{"status":{"message":"x"}}`, "UPDATE status Pod"},
		{"POST", core + "serviceaccounts/default/token", `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`, "CREATE token TokenRequest"},
		{"PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", `{"spec":{"replicas":2}}`, "UPDATE scale Scale"},
	} {
		contentType := "application/json"
		if x.method == "PATCH" {
			contentType = "application/merge-patch+json"
		}
		if code, _, body := call(t, s, x.method, x.path, contentType, x.body); code != 422 || !strings.Contains(body, "denied request: "+x.want) {
			t.Errorf("%s: %d %s", x.path, code, body)
		}
	}
}
