package authz

import (
	"errors"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// Masters allows everything to administrators. It has no opinion of others.
type Masters struct{}

// Authorize allows all to the group system:masters.
func (Masters) Authorize(u *request.User, _ *request.Info) (bool, string) {
	return slices.Contains(u.Groups, authn.GroupMasters), ""
}

// Union allows what one of several authorizers allows.
type Union []Authorizer

// Authorize asks one after the other.
func (all Union) Authorize(u *request.User, i *request.Info) (bool, string) {
	var reasons []string
	for _, a := range all {
		ok, reason := a.Authorize(u, i)
		if ok {
			return true, reason
		}
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return false, strings.Join(reasons, "\n")
}

// Rules are those of all authorizers that can tell.
func (all Union) Rules(u *request.User, namespace string) ([]rbacv1.PolicyRule, error) {
	var out []rbacv1.PolicyRule
	var errs []error
	for _, a := range all {
		if l, ok := a.(Lister); ok {
			rules, err := l.Rules(u, namespace)
			out = append(out, rules...)
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}

// Lister is an authorizer that can tell all that a user may do in a namespace. An error says that there may be more.
type Lister interface {
	Rules(u *request.User, namespace string) ([]rbacv1.PolicyRule, error)
}
