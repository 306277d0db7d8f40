package expression_test

import (
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/kogge-dev/kogge/internal/expression"
)

func input() *expression.Input {
	return &expression.Input{
		Object:  &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "m"}, Data: map[string]string{"a": "b"}},
		Request: &admissionv1.AdmissionRequest{Name: "m", Operation: admissionv1.Create},
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		d      expression.Declarations
		want   string // in the error; empty: none
	}{
		{"object.data.a == 'b'", expression.Declarations{}, ""},
		{"object.", expression.Declarations{}, "compilation failed: ERROR: <input>:1:8: Syntax error"},
		{"1", expression.Declarations{}, "must evaluate to bool but got int"},
		{"params.x == 1", expression.Declarations{}, "undeclared reference to 'params'"},
		{"params.x == 1", expression.Declarations{Params: true}, ""},
		{"authorizer.path('/x').check('get').allowed()", expression.Declarations{}, "undeclared reference to 'authorizer'"},
		{"authorizer.path('/x').check('get').allowed()", expression.Declarations{Authorizer: true}, ""},
		{"request.nothing == 1", expression.Declarations{}, "undefined field 'nothing'"},
		{"namespaceObject.metadata.nothing == 1", expression.Declarations{}, "undefined field 'nothing'"},
		{"variables.x == 1", expression.Declarations{}, "undeclared reference to 'variables'"},
		{"Object{} == Object{}", expression.Declarations{}, "undeclared reference to 'Object'"},
		{"quantity('1Gi').isGreaterThan(quantity('1Mi')) && ip('1.2.3.4').family() == 4", expression.Declarations{}, ""},
	} {
		err := expression.NewCompiler(false).Compile(c.source, expression.Condition, c.d, expression.New).Err
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.source, err)
		}
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, want, failed string
	}{
		{"object.data.a == 'b'", "true", ""},
		{"object.kind == 'ConfigMap' && object.apiVersion == 'v1'", "true", ""},
		{"oldObject == null && namespaceObject == null", "true", ""},
		{"request.name == 'm' && request.operation == 'CREATE'", "true", ""},
		{"object.data.missing == 'b'", "", "expression 'object.data.missing == 'b'' resulted in error: no such key: missing"},
		{"object.", "", "compilation error: compilation failed: ERROR"},
	} {
		compiler := expression.NewCompiler(false)
		compiled := compiler.Compile(c.source, expression.Condition, expression.Declarations{}, expression.Stored)
		a, err := compiler.NewActivation(input())
		if err != nil {
			t.Fatal(err)
		}
		got, left, failed, fatal := a.Evaluate(t.Context(), &compiled, expression.Budget)
		switch {
		case fatal != nil || left < 0:
			t.Errorf("%s: %v", c.source, fatal)
		case c.failed != "" && (failed == nil || !strings.HasPrefix(failed.Error(), c.failed)):
			t.Errorf("%s: failed with %v", c.source, failed)
		case c.failed == "" && (failed != nil || got.Value() != (c.want == "true")):
			t.Errorf("%s: %v, %v", c.source, got, failed)
		}
	}
}

// TestVariables are evaluated when first used, once, at the expense of who uses them.
func TestVariables(t *testing.T) {
	t.Parallel()
	compiler := expression.NewCompiler(true)
	compiler.Variable("size", "size(object.data)", expression.Declarations{}, expression.New)
	compiler.Variable("twice", "variables.size * 2", expression.Declarations{}, expression.New)
	compiler.Variable("broken", "object.data.missing", expression.Declarations{}, expression.New)
	if err := compiler.Compile("variables.twice == 'x'", expression.Condition, expression.Declarations{}, expression.New).Err; err == nil {
		t.Error("a number was compared with a text")
	}
	good := compiler.Compile("variables.twice == 2", expression.Condition, expression.Declarations{}, expression.New)
	a, err := compiler.NewActivation(input())
	if err != nil {
		t.Fatal(err)
	}
	result, first, failed, fatal := a.Evaluate(t.Context(), &good, 1000)
	if failed != nil || fatal != nil || result.Value() != true {
		t.Fatal(result, failed, fatal)
	}
	_, second, _, _ := a.Evaluate(t.Context(), &good, 1000)
	if 1000-second >= 1000-first {
		t.Errorf("the second time cost %d, the first %d", 1000-second, 1000-first)
	}
	bad := compiler.Compile("variables.broken == 'x'", expression.Condition, expression.Declarations{}, expression.New)
	if _, _, failed, _ := a.Evaluate(t.Context(), &bad, 1000); failed == nil || !strings.Contains(failed.Error(), `composited variable "broken" fails to evaluate`) {
		t.Error(failed)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	compiler := expression.NewCompiler(false)
	compiled := compiler.Compile("object.data.all(k, k != '')", expression.Condition, expression.Declarations{}, expression.Stored)
	a, err := compiler.NewActivation(input())
	if err != nil {
		t.Fatal(err)
	}
	_, left, _, fatal := a.Evaluate(t.Context(), &compiled, 1)
	if !errors.Is(fatal, apiservercel.ErrOutOfBudget) || left != -1 {
		t.Error(left, fatal)
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	const yes, no, failing = "object.data.a == 'b'", "object.data.a == 'c'", "object.data.missing == 'x'"
	for _, c := range []struct {
		name    string
		sources []string
		holds   bool
		fails   bool
	}{
		{"none", nil, true, false},
		{"one that holds", []string{yes}, true, false},
		{"one that does not", []string{yes, no}, false, false},
		{"one that fails", []string{yes, failing}, false, true},
		{"one that does not outweighs one that fails", []string{failing, no}, false, false},
	} {
		var list []registrationv1.MatchCondition
		for _, s := range c.sources {
			list = append(list, registrationv1.MatchCondition{Name: "n", Expression: s})
		}
		holds, err := expression.NewCompiler(false).Conditions(list, expression.Declarations{}).Hold(t.Context(), input())
		if holds != c.holds || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, holds, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	spec := apiservercel.NewObjectType("thing", map[string]*apiservercel.DeclField{"size": apiservercel.NewDeclField("size", apiservercel.IntType, true, nil, nil)})
	variables := []registrationv1.Variable{{Name: "n", Expression: "object.size"}}
	for source, want := range map[string]string{
		"object.size > 1":        "",
		"object.size > 'x'":      "found no matching overload for '_>_'",
		"object.nothing == 1":    "undefined field 'nothing'",
		"variables.n == 'x'":     "found no matching overload",
		"oldObject.size == 1":    "",
		"params.anything == 'x'": "",
	} {
		got, err := expression.Check(source, variables, expression.Typed{Object: spec, Params: true})
		if err != nil || (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v", source, got, err)
		}
	}
}
