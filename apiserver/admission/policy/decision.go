package policy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/kogge-dev/kogge/internal/expression"
)

// decision is what one validation said.
type decision struct {
	denied  bool
	message string
	reason  metav1.StatusReason // empty when an expression failed
}

// failure is the decision of an expression that failed.
func failure(policy admissionv1.FailurePolicyType, text string) decision {
	return decision{denied: policy != admissionv1.Ignore, message: text}
}

// said is what an expression came to.
type said struct {
	value ref.Val
	err   error
}

// decide makes the decision of a validation; message is what its messageExpression came to, and stopped the error that ended
// all message expressions.
func decide(v *admissionv1.Validation, policy admissionv1.FailurePolicyType, result, message said, stopped error) decision {
	switch {
	case result.err != nil:
		return failure(policy, result.err.Error())
	case errors.Is(stopped, apiservercel.ErrInternal) || errors.Is(stopped, apiservercel.ErrOutOfBudget):
		return failure(policy, fmt.Sprintf("failed messageExpression: %s", stopped))
	case result.value == celtypes.True:
		return decision{}
	}
	d := decision{denied: true, reason: metav1.StatusReasonInvalid, message: told(message)}
	if v.Reason != nil {
		d.reason = *v.Reason
	}
	if d.message == "" {
		d.message = strings.TrimSpace(v.Message)
	}
	if d.message == "" {
		d.message = fmt.Sprintf("failed expression: %v", strings.TrimSpace(v.Expression))
	}
	return d
}

// told is the message that an expression made; empty when it made none that can be shown.
func told(message said) string {
	if message.err != nil || message.value == nil {
		return ""
	}
	text, ok := message.value.Value().(string)
	text = strings.TrimSpace(text)
	if !ok || len(text) > expression.MaxMessage || strings.Contains(text, "\n") {
		return ""
	}
	return text
}

// note is an audit annotation that a policy made.
type note struct{ key, value string }

// noteOf makes an annotation of what an expression came to. Without a value there is none; an error denies the write unless
// failures are ignored.
func noteOf(a *admissionv1.AuditAnnotation, policy admissionv1.FailurePolicyType, result said) (note, decision) {
	if result.err != nil {
		return note{}, failure(policy, result.err.Error())
	}
	switch result.value.Type() {
	case celtypes.StringType:
		return note{a.Key, strings.TrimSpace(result.value.Value().(string))}, decision{}
	case celtypes.NullType:
		return note{}, decision{}
	}
	return note{}, decision{denied: true, message: fmt.Sprintf("valueExpression '%v' resulted in unsupported return type: %v. "+
		"Return type must be either string or null.", a.ValueExpression, result.value.Type())}
}

// codeOf is the HTTP status of a reason that a policy may give.
func codeOf(r metav1.StatusReason) int32 {
	switch r {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}
