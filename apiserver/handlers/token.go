package handlers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

const (
	minTokenSeconds     = 10 * 60
	defaultTokenSeconds = 60 * 60
	// A pod's token is asked for with this odd time; it is then valid for a year, and use after the odd time is only warned of (KEP-1205).
	warnTokenSeconds = 60*60 + 7
	extendedToken    = 365 * 24 * time.Hour
)

// token signs a token for a ServiceAccount.
func (h *Handlers) token(w http.ResponseWriter, r *http.Request, s *Scope) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	if r.Method != http.MethodPost {
		NotAllowed(w, r)
		return
	}
	out, err := negotiation.Negotiate(r, negotiation.Endpoint{})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	req, dryRun, err := s.tokenInput(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	account, err := h.read(ctx, "serviceaccounts", s.Info.Namespace, s.Info.Name)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	req.Name, req.Namespace, req.UID = account.GetName(), account.GetNamespace(), account.GetUID()
	req.CreationTimestamp = metav1.NewTime(h.Tokens.Now())
	if !dryRun {
		if err := h.sign(ctx, req, account); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	writeMeta(w, r, http.StatusCreated, out, authenticationv1.SchemeGroupVersion.WithKind("TokenRequest"), req)
}

// read gets an object of the core group.
func (h *Handlers) read(ctx context.Context, plural, namespace, name string) (resource.Object, error) {
	reg := h.Registry(schema.GroupVersionResource{Version: "v1", Resource: plural})
	res, err := reg.Get(ctx, namespace, name, "")
	if err != nil {
		return nil, err
	}
	return reg.Object(res)
}

func (s *Scope) tokenInput(r *http.Request) (*authenticationv1.TokenRequest, bool, error) {
	req, o, err := posted(s, r, &authenticationv1.TokenRequest{})
	if err != nil {
		return nil, false, err
	}
	if err := matchNamespace(s, req); err != nil {
		return nil, false, err
	}
	gate := s.gate(registry.Create, req, o, len(o.DryRun) > 0)
	if err := gate.mutate(r.Context()); err != nil {
		return nil, false, err
	}
	if req.Name != "" && req.Name != s.Info.Name {
		return nil, false, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", req.Name, s.Info.Name))
	}
	if req.Spec.ExpirationSeconds == nil {
		n := int64(defaultTokenSeconds)
		req.Spec.ExpirationSeconds = &n
	}
	if errs := validateTokenRequest(req); len(errs) > 0 {
		return nil, false, apierrors.NewInvalid(schema.GroupKind{Group: "authentication.k8s.io", Kind: "TokenRequest"}, "", errs)
	}
	owned, err := registry.OwnUnstored(tokenKind, "token", req, manager(o.FieldManager, r))
	if err != nil {
		return nil, false, err
	}
	return owned.(*authenticationv1.TokenRequest), len(o.DryRun) > 0, gate.judge(r.Context())
}

// tokenKind is what a ServiceAccount's token endpoint takes and gives.
var tokenKind = &resource.Resource{
	Name: resource.Name{Group: authenticationv1.GroupName, Version: "v1", Kind: "TokenRequest"},
	New:  func() resource.Object { return &authenticationv1.TokenRequest{} },
}

func validateTokenRequest(req *authenticationv1.TokenRequest) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("spec", "expirationSeconds")
	switch n := *req.Spec.ExpirationSeconds; {
	case n < minTokenSeconds:
		errs = append(errs, field.Invalid(path, n, "may not specify a duration less than 10 minutes"))
	case n > 1<<32:
		errs = append(errs, field.Invalid(path, n, "may not specify a duration larger than 2^32 seconds"))
	}
	return errs
}

// sign fills in the status.
func (h *Handlers) sign(ctx context.Context, req *authenticationv1.TokenRequest, account resource.Object) error {
	claims := authn.Claims{Namespace: account.GetNamespace(), ServiceAccount: authn.Ref{Name: account.GetName(), UID: account.GetUID()}}
	if ref := req.Spec.BoundObjectRef; ref != nil {
		if err := h.bindToken(ctx, &claims, ref, account.GetName()); err != nil {
			return err
		}
	}
	own := len(req.Spec.Audiences) == 0
	if own {
		req.Spec.Audiences = h.Tokens.Audiences
	}
	now := h.Tokens.Now()
	told := now.Add(time.Duration(*req.Spec.ExpirationSeconds) * time.Second)
	expires := told
	if own && claims.Pod != nil && *req.Spec.ExpirationSeconds == warnTokenSeconds {
		claims.WarnAfter = jwt.NewNumericDate(told)
		expires = now.Add(extendedToken)
	}
	signed, err := h.Tokens.Sign(claims, req.Spec.Audiences, string(uuid.NewUUID()), now, expires)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	req.Status = authenticationv1.TokenRequestStatus{Token: signed, ExpirationTimestamp: metav1.NewTime(told)}
	return nil
}

// bindToken makes the token live only as long as an object does.
func (h *Handlers) bindToken(ctx context.Context, c *authn.Claims, ref *authenticationv1.BoundObjectReference, account string) error {
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	plural := map[string]string{"Pod": "pods", "Secret": "secrets", "Node": "nodes"}[gvk.Kind]
	if gvk.Group != "" || plural == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", gvk.String()))
	}
	namespace := c.Namespace
	if plural == "nodes" {
		namespace = ""
	}
	obj, err := h.read(ctx, plural, namespace, ref.Name)
	if err != nil {
		return err
	}
	if ref.UID != "" && ref.UID != obj.GetUID() {
		return apierrors.NewConflict(corev1.Resource(ref.Kind), ref.Name, fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	bound := &authn.Ref{Name: obj.GetName(), UID: obj.GetUID()}
	switch o := obj.(type) {
	case *corev1.Pod:
		if o.Spec.ServiceAccountName != account {
			return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account))
		}
		c.Pod = bound
		if o.Spec.NodeName != "" {
			c.Node = h.nodeRef(ctx, o.Spec.NodeName)
		}
	case *corev1.Secret:
		c.Secret = bound
	case *corev1.Node:
		c.Node = bound
	}
	return nil
}

// nodeRef names a pod's node; without a uid when it is gone.
func (h *Handlers) nodeRef(ctx context.Context, name string) *authn.Ref {
	ref := &authn.Ref{Name: name}
	if node, err := h.read(ctx, "nodes", "", name); err == nil {
		ref.UID = node.GetUID()
	}
	return ref
}
