package webhook

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// callError: a webhook could not be asked. Whether that matters is for its failurePolicy.
type callError struct {
	name   string
	reason error
}

// Error says which webhook, and why.
func (e *callError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.name, e.reason)
}

// Unwrap gives the reason.
func (e *callError) Unwrap() error { return e.reason }

// cannot makes a callError.
func (h *hook) cannot(format string, args ...any) error {
	return &callError{h.Name, fmt.Errorf(format, args...)}
}

// refusal makes the error of a webhook that said no. What it said is passed on; that it is a failure, it can't unsay.
func (h *hook) refusal(result *metav1.Status) error {
	if result == nil {
		result = &metav1.Status{}
	}
	status := *result
	status.Code = max(status.Code, 0)
	if status.Code < http.StatusBadRequest {
		status.Code = http.StatusBadRequest
	}
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	text := fmt.Sprintf("admission webhook %q denied the request", h.Name)
	switch {
	case status.Message != "":
		status.Message = text + ": " + status.Message
	case status.Reason != "":
		status.Message = fmt.Sprintf("%s: %s", text, status.Reason)
	default:
		status.Message = text + " without explanation"
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// noDryRun is the error of a webhook with side effects that is asked about a dry run.
func (h *hook) noDryRun() error {
	return apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.Name))
}

// outcome is what an error of a call does to the write: nil when it does not matter.
func (h *hook) outcome(err error) error {
	var failed *callError
	if !errors.As(err, &failed) {
		return err
	}
	if h.ignores() {
		return nil
	}
	return apierrors.NewInternalError(err)
}
