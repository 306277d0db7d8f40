package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// answers reads what webhooks answer: a review, in whatever form the API knows.
var answers = sync.OnceValue(func() runtime.Decoder {
	s := runtime.NewScheme()
	utilruntime.Must(admissionv1.AddToScheme(s))
	utilruntime.Must(admissionv1beta1.AddToScheme(s))
	return serializer.NewCodecFactory(s).UniversalDeserializer()
})

// unreadableError: the answer is no review at all.
type unreadableError struct{ error }

// read reads and checks an answer. Of v1beta1 much was never checked.
func read(body []byte, id types.UID, version string, mutating bool) (*admissionv1.AdmissionResponse, error) {
	if version == "v1beta1" {
		return readOld(body, mutating)
	}
	answer := &admissionv1.AdmissionReview{}
	if _, _, err := answers().Decode(body, nil, answer); err != nil {
		return nil, &unreadableError{err}
	}
	r := answer.Response
	if r == nil {
		return nil, errors.New("webhook response was absent")
	}
	if r.UID != id {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", id, r.UID)
	}
	want := admissionv1.SchemeGroupVersion.WithKind(reviewKind)
	if got := answer.GroupVersionKind(); got != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want.String(), got.String())
	}
	return r, checkPatch(r, mutating)
}

// readOld reads an answer of v1beta1, whose structure is that of v1.
func readOld(body []byte, mutating bool) (*admissionv1.AdmissionResponse, error) {
	answer := &admissionv1beta1.AdmissionReview{}
	if _, _, err := answers().Decode(body, nil, answer); err != nil {
		return nil, &unreadableError{err}
	}
	if answer.Response == nil {
		return nil, errors.New("webhook response was absent")
	}
	b, err := json.Marshal(answer.Response)
	if err != nil {
		return nil, &unreadableError{err}
	}
	r := &admissionv1.AdmissionResponse{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, &unreadableError{err}
	}
	jsonPatch := admissionv1.PatchTypeJSONPatch
	r.PatchType = &jsonPatch
	if !mutating {
		r.Patch = nil
	}
	return r, nil
}

func checkPatch(r *admissionv1.AdmissionResponse, mutating bool) error {
	switch {
	case !mutating && len(r.Patch) > 0:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && r.PatchType != nil:
		return errors.New("validating webhook may not return response.patchType")
	case len(r.Patch) > 0 && r.PatchType == nil:
		return errors.New("webhook returned response.patch but not response.patchType")
	case len(r.Patch) == 0 && r.PatchType != nil:
		return errors.New("webhook returned response.patchType but not response.patch")
	case r.PatchType != nil && *r.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *r.PatchType)
	}
	return nil
}
