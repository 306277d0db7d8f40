package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/internal/callout"
	"github.com/kogge-dev/kogge/apiserver/request"
)

const reviewKind = "AdmissionReview"

// call asks a webhook. What it answers was checked; that it says no is an error.
func (i *invocation) call(ctx context.Context, s *review.Subject, mutating bool) (*admissionv1.AdmissionResponse, error) {
	h := i.hook
	if s.DryRun {
		if h.SideEffects == nil {
			return nil, h.cannot("Webhook SideEffects is nil")
		}
		if *h.SideEffects != registrationv1.SideEffectClassNone && *h.SideEffects != registrationv1.SideEffectClassNoneOnDryRun {
			return nil, h.noDryRun()
		}
	}
	version, ok := reviewVersion(h.AdmissionReviewVersions)
	if !ok {
		return nil, h.cannot("could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)")
	}
	id := uuid.NewUUID()
	body, err := json.Marshal(i.review(s, id, version))
	if err != nil {
		return nil, h.cannot("could not create admission objects: %w", err)
	}
	client, err := h.client()
	if err != nil {
		return nil, h.cannot("could not get REST client: %w", err)
	}
	if t := h.TimeoutSeconds; t != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*t)*time.Second)
		defer cancel()
	}
	answer, err := callout.Post(ctx, client, body)
	if err != nil {
		return nil, h.cannot("failed to call webhook: %w", err)
	}
	response, err := read(answer, id, version, mutating)
	var unreadable *unreadableError
	switch {
	case errors.As(err, &unreadable):
		return nil, h.cannot("failed to call webhook: %w", unreadable.error)
	case err != nil:
		return nil, h.cannot("received invalid webhook response: %w", err)
	}
	for k, v := range response.AuditAnnotations {
		request.Annotate(ctx, h.Name+"/"+k, v)
	}
	for _, w := range response.Warnings {
		request.Warn(ctx, w)
	}
	if !response.Allowed {
		return nil, h.refusal(response.Result)
	}
	return response, nil
}

// reviewVersion chooses the first version of AdmissionReview that a webhook takes and we know.
func reviewVersion(taken []string) (string, bool) {
	i := slices.IndexFunc(taken, func(v string) bool { return v == "v1" || v == "v1beta1" })
	if i < 0 {
		return "", false
	}
	return taken[i], true
}

// review says what is written. Both versions look alike.
func (i *invocation) review(s *review.Subject, id types.UID, version string) *admissionv1.AdmissionReview {
	r := s.Request(i.version)
	r.UID = id
	r.Object, r.OldObject = runtime.RawExtension{Object: i.version.Object}, runtime.RawExtension{Object: i.version.Old}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{Kind: reviewKind, APIVersion: admissionv1.GroupName + "/" + version}, Request: r}
}
