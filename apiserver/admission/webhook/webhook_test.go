package webhook

import (
	"errors"
	"fmt"
	"testing"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	const head = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"`
	for _, c := range []struct {
		body, version string
		mutating      bool
		want          string // the error; empty: none
	}{
		{head + `,"response":{"uid":"u","allowed":true}}`, "v1", false, ""},
		{head + `,"response":{"uid":"u","allowed":true,"patch":"W10=","patchType":"JSONPatch"}}`, "v1", true, ""},
		{head + `}`, "v1", false, "webhook response was absent"},
		{head + `,"response":{"uid":"x"}}`, "v1", false, `expected response.uid="u", got "x"`},
		{head + `,"response":{"uid":"u","patch":"W10="}}`, "v1", false, "validating webhook may not return response.patch"},
		{head + `,"response":{"uid":"u","patchType":"JSONPatch"}}`, "v1", false, "validating webhook may not return response.patchType"},
		{head + `,"response":{"uid":"u","patch":"W10="}}`, "v1", true, "webhook returned response.patch but not response.patchType"},
		{head + `,"response":{"uid":"u","patchType":"JSONPatch"}}`, "v1", true, "webhook returned response.patchType but not response.patch"},
		{`{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"uid":"any","allowed":true}}`, "v1beta1", false, ""},
	} {
		_, err := read([]byte(c.body), "u", c.version, c.mutating)
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s: %v", c.body, err)
		}
	}
	var unreadable *unreadableError
	if _, err := read([]byte("[]"), "u", "v1", false); !errors.As(err, &unreadable) {
		t.Error(err)
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	h := &hook{MutatingWebhook: registrationv1.MutatingWebhook{Name: "h"}}
	for _, c := range []struct {
		result *metav1.Status
		code   int32
		text   string
	}{
		{nil, 400, `admission webhook "h" denied the request without explanation`},
		{&metav1.Status{Message: "no", Code: 418}, 418, `admission webhook "h" denied the request: no`},
		{&metav1.Status{Reason: "Because", Code: 200, Status: "Success"}, 400, `admission webhook "h" denied the request: Because`},
	} {
		var status *apierrors.StatusError
		if err := h.refusal(c.result); !errors.As(err, &status) || status.ErrStatus.Code != c.code || status.ErrStatus.Message != c.text || status.ErrStatus.Status != "Failure" {
			t.Errorf("%+v: %v", c.result, err)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	ignore := registrationv1.Ignore
	lenient, strict := &hook{MutatingWebhook: registrationv1.MutatingWebhook{Name: "h", FailurePolicy: &ignore}}, &hook{MutatingWebhook: registrationv1.MutatingWebhook{Name: "h"}}
	if err := lenient.outcome(lenient.cannot("x")); err != nil {
		t.Error(err)
	}
	if err := strict.outcome(strict.cannot("x")); !apierrors.IsInternalError(err) || err.Error() != `Internal error occurred: failed calling webhook "h": x` {
		t.Error(err)
	}
	if err := lenient.outcome(lenient.refusal(nil)); !apierrors.IsBadRequest(err) && err == nil {
		t.Error("a refusal was ignored")
	}
}

// FuzzAnswer: whatever a webhook answers, it is read or refused.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true}}`)
	f.Add("a: {b: [*c]}")
	f.Fuzz(func(t *testing.T, body string) {
		for _, version := range []string{"v1", "v1beta1"} {
			if r, err := read([]byte(body), "u", version, true); (r == nil) == (err == nil) && r == nil {
				t.Errorf("%q: neither an answer nor an error", body)
			}
		}
	})
}
