package rbac

import (
	"fmt"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// subject is whom a binding names: a user, a group or a ServiceAccount.
type subject struct{ kind, namespace, name string }

// role names a ClusterRole, or with a namespace a Role.
type role struct{ namespace, name string }

// grant is one subject of one binding.
type grant struct {
	binding *binding
	subject rbacv1.Subject
	// allowed is the reason of what it allows, put together once: each request asks for it.
	allowed func() string
}

func newGrant(b *binding, s rbacv1.Subject) *grant {
	g := &grant{binding: b, subject: s}
	g.allowed = sync.OnceValue(func() string { return "RBAC: allowed by " + g.String() })
	return g
}

// binding is a ClusterRoleBinding, or with a namespace a RoleBinding.
type binding struct {
	namespace, name string
	ref             rbacv1.RoleRef
	subjects        []rbacv1.Subject
}

// index is what all roles and bindings say.
type index struct {
	rules map[role][]rbacv1.PolicyRule
	// grants by subject: those of ClusterRoleBindings, and those of RoleBindings by namespace.
	everywhere map[subject][]*grant
	in         map[string]map[subject][]*grant
}

func newIndex(rules map[role][]rbacv1.PolicyRule, bindings []*binding) *index {
	x := &index{rules: rules, everywhere: map[subject][]*grant{}, in: map[string]map[subject][]*grant{}}
	for _, b := range bindings {
		to := x.everywhere
		if b.namespace != "" {
			if x.in[b.namespace] == nil {
				x.in[b.namespace] = map[subject][]*grant{}
			}
			to = x.in[b.namespace]
		}
		for _, s := range b.subjects {
			key := subject{kind: s.Kind, name: s.Name}
			if s.Kind == rbacv1.ServiceAccountKind {
				key.namespace = s.Namespace
				if key.namespace == "" {
					key.namespace = b.namespace
				}
			}
			to[key] = append(to[key], newGrant(b, s))
		}
	}
	return x
}

// subjects are all that bindings may call a user.
func subjects(u *request.User) []subject {
	out := make([]subject, 0, len(u.Groups)+2)
	out = append(out, subject{kind: rbacv1.UserKind, name: u.Name})
	if namespace, name, ok := authn.SplitSubject(u.Name); ok {
		out = append(out, subject{rbacv1.ServiceAccountKind, namespace, name})
	}
	for _, g := range u.Groups {
		out = append(out, subject{kind: rbacv1.GroupKind, name: g})
	}
	return out
}

// visit shows the rules that a user has in a namespace, or everywhere, one grant after the other, until see wants no more. A role that is
// missing is an error that see gets instead of rules.
func (x *index) visit(u *request.User, namespace string, see func(g *grant, rules []rbacv1.PolicyRule, err error) bool) {
	who := subjects(u)
	places := []map[subject][]*grant{x.everywhere}
	if namespace != "" {
		places = append(places, x.in[namespace])
	}
	for _, place := range places {
		for _, s := range who {
			for _, g := range place[s] {
				rules, err := x.rulesOf(g.binding)
				if !see(g, rules, err) {
					return
				}
			}
		}
	}
}

// rulesOf gives the rules of a binding's role.
func (x *index) rulesOf(b *binding) ([]rbacv1.PolicyRule, error) {
	key := role{name: b.ref.Name}
	switch b.ref.Kind {
	case "Role":
		key.namespace = b.namespace
	case "ClusterRole":
	default:
		return nil, fmt.Errorf("unsupported role reference kind: %q", b.ref.Kind)
	}
	rules, ok := x.rules[key]
	if !ok {
		return nil, fmt.Errorf("%s.%s %q not found", strings.ToLower(b.ref.Kind), rbacv1.GroupName, b.ref.Name)
	}
	return rules, nil
}

// String describes a grant, as reasons do.
func (g *grant) String() string {
	b, of, name := g.binding, "ClusterRoleBinding", g.binding.name
	if b.namespace != "" {
		of, name = "RoleBinding", b.name+"/"+b.namespace
	}
	to := g.subject.Name
	if g.subject.Kind == rbacv1.ServiceAccountKind {
		namespace := g.subject.Namespace
		if namespace == "" {
			namespace = b.namespace
		}
		to += "/" + namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", of, name, b.ref.Kind, b.ref.Name, g.subject.Kind, to)
}
