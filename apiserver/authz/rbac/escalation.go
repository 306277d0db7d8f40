package rbac

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Escalation refuses roles and bindings by which somebody would give away rights that they don't have. Who may "escalate" a role, or
// "bind" one, may do so; administrators may do anything.
type Escalation struct {
	Authorizer authz.Authorizer
	Rules      *Authorizer
}

// fullAuthority is what an aggregation rule can gather.
var fullAuthority = []rbacv1.PolicyRule{
	{Verbs: []string{rbacv1.VerbAll}, APIGroups: []string{rbacv1.APIGroupAll}, Resources: []string{rbacv1.ResourceAll}},
	{Verbs: []string{rbacv1.VerbAll}, NonResourceURLs: []string{rbacv1.NonResourceAll}},
}

// Validate judges a write of one of the four kinds, and lets all others pass.
func (e Escalation) Validate(ctx context.Context, a *registry.Attributes) error {
	if a.Resource.Group != rbacv1.GroupName || a.Operation != registry.Create && a.Operation != registry.Update {
		return nil
	}
	u := request.UserFrom(ctx)
	if slices.Contains(u.Groups, authn.GroupMasters) || a.Old != nil && forCollection(a.Object, a.Old) {
		return nil
	}
	var rules []rbacv1.PolicyRule
	var err error
	aggregates := false
	switch o := a.Object.(type) {
	case *rbacv1.ClusterRole:
		rules, aggregates = o.Rules, aggregated(o)
		if before, ok := a.Old.(*rbacv1.ClusterRole); ok {
			aggregates = aggregates || aggregated(before)
		}
	case *rbacv1.Role:
		rules = o.Rules
	case *rbacv1.ClusterRoleBinding:
		return e.mayBind(u, a, o.RoleRef)
	case *rbacv1.RoleBinding:
		return e.mayBind(u, a, o.RoleRef)
	}
	if ok, _ := e.Authorizer.Authorize(u, &request.Info{IsResource: true, Verb: "escalate", Group: rbacv1.GroupName, Version: "*", Resource: a.Resource.Plural, Namespace: a.Namespace, Name: a.Name}); ok {
		return nil
	}
	if err = e.holds(u, a.Namespace, rules); err == nil && aggregates && e.holds(u, a.Namespace, fullAuthority) != nil {
		err = errors.New("must have cluster-admin privileges to use the aggregationRule")
	}
	return forbidden(a, err)
}

// mayBind judges a binding's role.
func (e Escalation) mayBind(u *request.User, a *registry.Attributes, ref rbacv1.RoleRef) error {
	i := &request.Info{IsResource: true, Verb: "bind", Group: ref.APIGroup, Version: "*", Resource: strings.ToLower(ref.Kind) + "s", Namespace: a.Namespace, Name: ref.Name}
	if ok, _ := e.Authorizer.Authorize(u, i); ok {
		return nil
	}
	x, err := e.Rules.index()
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	rules, err := x.rulesOf(&binding{namespace: a.Namespace, ref: ref})
	if err != nil {
		return apierrors.NewNotFound(rbacv1.Resource(i.Resource), ref.Name)
	}
	return forbidden(a, e.holds(u, a.Namespace, rules))
}

func forbidden(a *registry.Attributes, err error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewForbidden(a.Resource.GR(), a.Object.GetName(), err)
}

// holds says which of the rules are not the user's.
func (e Escalation) holds(u *request.User, namespace string, rules []rbacv1.PolicyRule) error {
	own, unresolved := e.Rules.Rules(u, namespace)
	ok, missing := validation.Covers(own, rules)
	if ok {
		return nil
	}
	var texts []string
	for _, r := range compact(missing) {
		texts = append(texts, describe(r))
	}
	slices.Sort(texts)
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s", u.Name, u.Groups, strings.Join(slices.Compact(texts), "\n"))
	if unresolved != nil {
		text += fmt.Sprintf("; resolution errors: %v", []error{unresolved})
	}
	return errors.New(text)
}

// compact puts rules for the same resource together; each has one verb.
func compact(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	type target struct{ group, resource, name string }
	var out []rbacv1.PolicyRule
	at := map[target]int{}
	for _, r := range rules {
		if len(r.APIGroups) != 1 || len(r.Resources) != 1 || len(r.ResourceNames) > 1 || len(r.NonResourceURLs) > 0 {
			out = append(out, r)
			continue
		}
		t := target{r.APIGroups[0], r.Resources[0], strings.Join(r.ResourceNames, "")}
		if n, ok := at[t]; ok {
			out[n].Verbs = append(slices.Clip(out[n].Verbs), r.Verbs...)
			continue
		}
		at[t] = len(out)
		out = append(out, r)
	}
	return out
}

// describe writes a rule as upstream does.
func describe(r rbacv1.PolicyRule) string {
	var parts []string
	for _, p := range []struct {
		name   string
		values []string
	}{{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs}, {"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs}} {
		if len(p.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", p.name, p.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func aggregated(r *rbacv1.ClusterRole) bool {
	return r.AggregationRule != nil && len(r.AggregationRule.ClusterRoleSelectors) > 0
}

// forCollection says whether a write changes nothing but what the garbage collector changes: owners and finalizers.
func forCollection(obj, old resource.Object) bool {
	if equality.Semantic.DeepEqual(obj, old) {
		return true
	}
	same := obj.DeepCopyObject().(resource.Object)
	same.SetOwnerReferences(old.GetOwnerReferences())
	same.SetFinalizers(old.GetFinalizers())
	same.SetManagedFields(old.GetManagedFields())
	return equality.Semantic.DeepEqual(same, old)
}
