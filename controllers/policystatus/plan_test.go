package policystatus

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const published = `{"components":{"schemas":{
"thing":{"type":"object","properties":{"spec":{"allOf":[{"$ref":"#/components/schemas/spec"}],"description":"d"},"list":{"type":"array","items":{"$ref":"#/components/schemas/spec"}}},
 "x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"Thing"}]},
"spec":{"type":"object","properties":{"size":{"type":"integer"},"self":{"$ref":"#/components/schemas/spec"}}}}}}`

var thing = schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Thing"}

func TestWarnings(t *testing.T) {
	t.Parallel()
	d, err := parse([]byte(published))
	if err != nil {
		t.Fatal(err)
	}
	declared, err := d.typeOf(thing)
	if err != nil {
		t.Fatal(err)
	}
	p := &admissionv1.ValidatingAdmissionPolicy{}
	p.Spec.Variables = []admissionv1.Variable{{Name: "size", Expression: "object.spec.size"}}
	p.Spec.Validations = []admissionv1.Validation{
		{Expression: "object.spec.size > 1 && variables.size > 1 && object.list.all(s, s.size > 1)"},
		{Expression: "object.spec.size > '1'", MessageExpression: "object.nothing"},
		{Expression: "variables.size == 'x'"},
		{Expression: "object.metadata.name == 'x'"},
	}
	got := Warnings(p, []Kind{{thing, declared}}, nil)
	want := []struct{ ref, text string }{
		{"spec.validations[1].expression", "g/v1, Kind=Thing: ERROR: <input>:1:18: found no matching overload for '_>_'"},
		{"spec.validations[1].messageExpression", "g/v1, Kind=Thing: ERROR: <input>:1:7: undefined field 'nothing'"},
		{"spec.validations[2].expression", "g/v1, Kind=Thing: ERROR: <input>:1:16: found no matching overload for '_==_'"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if got[i].FieldRef != w.ref || !strings.HasPrefix(got[i].Warning, w.text) {
			t.Errorf("%+v", got[i])
		}
	}
	if _, err := d.typeOf(schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Other"}); err == nil {
		t.Error("a kind that is not there has a type")
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	rule := func(group string, names ...string) admissionv1.NamedRuleWithOperations {
		r := admissionv1.NamedRuleWithOperations{}
		r.APIGroups, r.APIVersions, r.Resources = []string{group}, []string{"v1"}, names
		return r
	}
	p := &admissionv1.ValidatingAdmissionPolicy{}
	p.Spec.MatchConstraints = &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{
		rule("apps", "statefulsets", "deployments", "deployments/scale", "*"), rule("*", "pods"),
	}}
	got := Resources(p)
	if len(got) != 1 || len(got[0]) != 2 || got[0][0].Resource != "deployments" || got[0][1].Resource != "statefulsets" {
		t.Errorf("%v", got)
	}
	if k := Sorted([]schema.GroupVersionKind{{Group: "b"}, {Group: "a"}, {Group: "b"}}); len(k) != 2 || k[0].Group != "a" {
		t.Errorf("%v", k)
	}
}
