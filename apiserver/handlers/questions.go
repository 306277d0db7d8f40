package handlers

import (
	"errors"
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// answer serves a resource of which nothing is stored: only a POST of a question is there.
func (h *Handlers) answer(w http.ResponseWriter, r *http.Request, s *Scope) {
	if r.Method != http.MethodPost || len(s.Info.Parts) > 0 || (s.Resource.Namespaced && s.Info.Namespace == "") {
		NotAllowed(w, r)
		return
	}
	out, err := negotiation.Negotiate(r, negotiation.Endpoint{})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if s.Resource.Kind == "Binding" {
		s.postBinding(w, r, out)
		return
	}
	obj, err := s.question(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if err := h.fillIn(r, obj); err != nil {
		s.fail(w, r, err)
		return
	}
	writeMeta(w, r, http.StatusCreated, out, s.Resource.GVK(), obj)
}

// question reads what is asked.
func (s *Scope) question(r *http.Request) (resource.Object, error) {
	q, o, err := posted(s, r, s.Resource.New())
	if err != nil {
		return nil, err
	}
	if err := matchNamespace(s, q); err != nil {
		return nil, err
	}
	if s.Resource.Kind == "SelfSubjectReview" {
		// Its answer is a new object: nobody but the server says anything in it.
		return q, nil
	}
	return registry.OwnUnstored(s.Resource, "", q, manager(o.FieldManager, r))
}

// fillIn writes the answer into the question's status.
func (h *Handlers) fillIn(r *http.Request, q resource.Object) error {
	me := request.UserFrom(r.Context())
	switch q := q.(type) {
	case *authenticationv1.SelfSubjectReview:
		q.CreationTimestamp = metav1.NewTime(h.Tokens.Now())
		q.Status.UserInfo = userInfo(me)
	case *authenticationv1.TokenReview:
		return h.reviewToken(r, q)
	case *authorizationv1.SelfSubjectAccessReview:
		q.Status = h.review(me, q.Spec.ResourceAttributes, q.Spec.NonResourceAttributes)
		return invalidReview(q, validateAttributes(q.Spec.ResourceAttributes, q.Spec.NonResourceAttributes))
	case *authorizationv1.SubjectAccessReview:
		q.Status = h.review(subject(&q.Spec), q.Spec.ResourceAttributes, q.Spec.NonResourceAttributes)
		return invalidReview(q, validateSubject(&q.Spec))
	case *authorizationv1.LocalSubjectAccessReview:
		q.Status = h.review(subject(&q.Spec), q.Spec.ResourceAttributes, q.Spec.NonResourceAttributes)
		errs := validateSubject(&q.Spec)
		if a := q.Spec.ResourceAttributes; a != nil && a.Namespace != q.Namespace {
			errs = append(errs, field.Invalid(field.NewPath("spec", "resourceAttributes", "namespace"), a.Namespace, "must match metadata.namespace"))
		}
		return invalidReview(q, errs)
	case *authorizationv1.SelfSubjectRulesReview:
		if q.Spec.Namespace == "" {
			return apierrors.NewBadRequest("no namespace on request")
		}
		q.Status = h.rules(me, q.Spec.Namespace)
	}
	return nil
}

func userInfo(u *request.User) authenticationv1.UserInfo {
	info := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for k, v := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[k] = v
	}
	return info
}

func (h *Handlers) reviewToken(r *http.Request, q *authenticationv1.TokenReview) error {
	if q.Spec.Token == "" {
		return apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	u, audiences, err := h.Authenticator.Token(r.Context(), q.Spec.Token, q.Spec.Audiences)
	switch {
	case u == nil && (err == nil || errors.Is(err, authn.ErrUnauthorized)):
		q.Status = authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
		return nil
	case err != nil:
		q.Status = authenticationv1.TokenReviewStatus{Error: fmt.Sprintf("[invalid bearer token, %v]", err)}
		return nil
	}
	if len(audiences) == 0 {
		audiences = h.Tokens.Audiences
	}
	q.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: userInfo(u), Audiences: audiences}
	return nil
}

func subject(s *authorizationv1.SubjectAccessReviewSpec) *request.User {
	return &request.User{Name: s.User, UID: s.UID, Groups: s.Groups}
}

// review asks the authorizer what it would say to a request.
func (h *Handlers) review(u *request.User, a *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) authorizationv1.SubjectAccessReviewStatus {
	i := &request.Info{}
	switch {
	case a != nil:
		i = &request.Info{IsResource: true, Verb: a.Verb, Group: a.Group, Version: a.Version, Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name}
	case n != nil:
		i = &request.Info{Verb: n.Verb, Path: n.Path}
	}
	allowed, reason := h.Authorizer.Authorize(u, i)
	return authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Reason: reason}
}

// rules lists all that one may in a namespace, as far as the authorizers can tell.
func (h *Handlers) rules(u *request.User, namespace string) authorizationv1.SubjectRulesReviewStatus {
	out := authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{}, NonResourceRules: []authorizationv1.NonResourceRule{}}
	l, ok := h.Authorizer.(authz.Lister)
	if !ok {
		out.Incomplete = true
		return out
	}
	rules, err := l.Rules(u, namespace)
	if err != nil {
		out.Incomplete, out.EvaluationError = true, err.Error()
	}
	for _, r := range rules {
		if len(r.Resources) > 0 {
			out.ResourceRules = append(out.ResourceRules, authorizationv1.ResourceRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
		}
		if len(r.NonResourceURLs) > 0 {
			out.NonResourceRules = append(out.NonResourceRules, authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	return out
}

func validateSubject(s *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := validateAttributes(s.ResourceAttributes, s.NonResourceAttributes)
	if s.User == "" && len(s.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), s.User, "at least one of user or group must be specified"))
	}
	return errs
}

func validateAttributes(a *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) field.ErrorList {
	path := field.NewPath("spec", "resourceAttributes")
	switch {
	case a != nil && n != nil:
		return field.ErrorList{field.Invalid(field.NewPath("spec", "nonResourceAttributes"), n, "cannot be specified in combination with resourceAttributes")}
	case a == nil && n == nil:
		return field.ErrorList{field.Invalid(path, n, "exactly one of nonResourceAttributes or resourceAttributes must be specified")}
	}
	return nil
}

func invalidReview(q resource.Object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	kind := "SubjectAccessReview"
	switch q.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		kind = "SelfSubjectAccessReview"
	case *authorizationv1.LocalSubjectAccessReview:
		kind = "LocalSubjectAccessReview"
	}
	return apierrors.NewInvalid(authorizationv1.SchemeGroupVersion.WithKind(kind).GroupKind(), "", errs)
}
