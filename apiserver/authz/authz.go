package authz

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// Authorizer decides about a request; the reason says why not.
type Authorizer interface {
	Authorize(u *request.User, i *request.Info) (allowed bool, reason string)
}

// Authenticated allows everything to everyone who is known.
type Authenticated struct{}

// public are the paths that everyone may read.
var public = []string{"/healthz", "/livez", "/readyz", "/version", "/version/"}

// Authorize allows all but anonymous requests.
func (Authenticated) Authorize(u *request.User, i *request.Info) (bool, string) {
	if u.Name != authn.Anonymous && !slices.Contains(u.Groups, authn.GroupUnauthenticated) {
		return true, ""
	}
	return !i.IsResource && i.Verb == "get" && slices.Contains(public, i.Path), ""
}

// Rules are everything, for all who are known.
func (a Authenticated) Rules(u *request.User, _ string) ([]rbacv1.PolicyRule, error) {
	if ok, _ := a.Authorize(u, &request.Info{IsResource: true}); !ok {
		return nil, nil
	}
	return []rbacv1.PolicyRule{
		{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
		{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
	}, nil
}

// Forbidden is the error for a request that was not allowed.
func Forbidden(u *request.User, i *request.Info, reason string) error {
	text := forbidden(u, i)
	if reason != "" {
		text += ": " + reason
	}
	err := apierrors.NewForbidden(i.GR(), i.Name, nil)
	err.ErrStatus.Message = text
	err.ErrStatus.Reason = metav1.StatusReasonForbidden
	if !i.IsResource {
		err.ErrStatus.Details = &metav1.StatusDetails{}
	}
	return err
}

func forbidden(u *request.User, i *request.Info) string {
	if !i.IsResource {
		return fmt.Sprintf("forbidden: User %q cannot %s path %q", u.Name, i.Verb, i.Path)
	}
	resource := i.Resource
	if i.Subresource != "" {
		resource += "/" + i.Subresource
	}
	subject := i.GR().String()
	if i.Name != "" {
		subject += fmt.Sprintf(" %q", i.Name)
	}
	text := fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q", subject, u.Name, i.Verb, resource, i.Group)
	if i.Namespace != "" {
		return text + fmt.Sprintf(" in the namespace %q", i.Namespace)
	}
	return text + " at the cluster scope"
}
