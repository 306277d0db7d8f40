package review

import (
	"context"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// Authorizers make the values with which expressions ask what the user may do: in general, and with what is written.
func (s *Subject) Authorizers(a authz.Authorizer) (general, resource ref.Val) {
	u, asker := person{s.User}, asker{a}
	return library.NewAuthorizerVal(u, asker), library.NewResourceAuthorizerVal(u, asker, written{s})
}

// person is a user in the library's terms.
type person struct{ u *request.User }

func (p person) GetName() string               { return p.u.Name }
func (p person) GetUID() string                { return p.u.UID }
func (p person) GetGroups() []string           { return p.u.Groups }
func (p person) GetExtra() map[string][]string { return p.u.Extra }

// written is a subject in the library's terms.
type written struct{ s *Subject }

func (w written) GetName() string                          { return w.s.ObjectName() }
func (w written) GetNamespace() string                     { return w.s.NamespaceName() }
func (w written) GetResource() schema.GroupVersionResource { return w.s.Resource.GVR() }
func (w written) GetSubresource() string                   { return w.s.Subresource }

// asker is our authorizer in the library's terms.
type asker struct{ a authz.Authorizer }

// Authorize answers a question of an expression.
func (k asker) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	u := &request.User{Name: a.GetUser().GetName(), UID: a.GetUser().GetUID(), Groups: a.GetUser().GetGroups(), Extra: a.GetUser().GetExtra()}
	i := &request.Info{
		IsResource: a.IsResourceRequest(), Path: a.GetPath(), Verb: a.GetVerb(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(),
		Namespace: a.GetNamespace(), Resource: a.GetResource(), Subresource: a.GetSubresource(), Name: a.GetName(),
	}
	allowed, reason := k.a.Authorize(u, i)
	if allowed {
		return authorizer.DecisionAllow, reason, nil
	}
	return authorizer.DecisionNoOpinion, reason, nil
}
