package policy

import (
	"errors"
	"strings"
	"testing"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/utils/ptr"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	failed := errors.New("it failed")
	budget := &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: "out", Cause: apiservercel.ErrOutOfBudget}
	no, yes := said{value: celtypes.False}, said{value: celtypes.True}
	text := func(s string) said { return said{value: celtypes.String(s)} }
	v := admissionv1.Validation{Expression: " a == b ", Message: " a must be b "}
	for _, c := range []struct {
		name            string
		v               admissionv1.Validation
		policy          admissionv1.FailurePolicyType
		result, message said
		stopped         error
		want            decision
	}{
		{"passes", v, admissionv1.Fail, yes, said{}, nil, decision{}},
		{"message", v, admissionv1.Fail, no, said{}, nil, decision{true, "a must be b", metav1.StatusReasonInvalid}},
		{"no message", admissionv1.Validation{Expression: " a == b "}, admissionv1.Fail, no, said{}, nil, decision{true, "failed expression: a == b", metav1.StatusReasonInvalid}},
		{"reason", admissionv1.Validation{Message: "m", Reason: ptr.To(metav1.StatusReasonForbidden)}, admissionv1.Fail, no, said{}, nil, decision{true, "m", metav1.StatusReasonForbidden}},
		{"message expression", v, admissionv1.Fail, no, text(" told "), nil, decision{true, "told", metav1.StatusReasonInvalid}},
		{"message expression failed", v, admissionv1.Fail, no, said{err: failed}, nil, decision{true, "a must be b", metav1.StatusReasonInvalid}},
		{"message of several lines", v, admissionv1.Fail, no, text("a\nb"), nil, decision{true, "a must be b", metav1.StatusReasonInvalid}},
		{"message too long", v, admissionv1.Fail, no, text(strings.Repeat("x", 6000)), nil, decision{true, "a must be b", metav1.StatusReasonInvalid}},
		{"message that is none", v, admissionv1.Fail, no, said{value: celtypes.Int(1)}, nil, decision{true, "a must be b", metav1.StatusReasonInvalid}},
		{"budget spent on messages", v, admissionv1.Fail, no, said{}, budget, decision{true, "failed messageExpression: out", ""}},
		{"failure", v, admissionv1.Fail, said{err: failed}, said{}, nil, decision{true, "it failed", ""}},
		{"failure ignored", v, admissionv1.Ignore, said{err: failed}, said{}, nil, decision{false, "it failed", ""}},
		{"ignoring failures denies still", v, admissionv1.Ignore, no, said{}, nil, decision{true, "a must be b", metav1.StatusReasonInvalid}},
	} {
		if got := decide(&c.v, c.policy, c.result, c.message, c.stopped); got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	a := &admissionv1.AuditAnnotation{Key: "k", ValueExpression: "v"}
	for name, c := range map[string]struct {
		result said
		note   note
		denied bool
	}{
		"text":   {said{value: celtypes.String(" x ")}, note{"k", "x"}, false},
		"null":   {said{value: celtypes.NullValue}, note{}, false},
		"number": {said{value: celtypes.Int(1)}, note{}, true},
		"failed": {said{err: errors.New("x")}, note{}, true},
	} {
		if n, d := noteOf(a, admissionv1.Fail, c.result); n != c.note || d.denied != c.denied {
			t.Errorf("%s: %+v, %+v", name, n, d)
		}
	}
}
