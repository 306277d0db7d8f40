package rbac

import (
	"fmt"
	"sync"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/request"
)

// Options of an authorizer: the collections of the four kinds.
type Options struct {
	ClusterRoles, ClusterRoleBindings, Roles, RoleBindings *cache.Collection
}

// Authorizer decides by roles and bindings.
type Authorizer struct {
	collections [4]*cache.Collection

	mu      sync.Mutex // held to make an index
	read    map[string]parsed
	current atomic.Pointer[dated]
}

// dated is an index with the numbers of changes that it was made at.
type dated struct {
	changes [4]int64
	*index
}

// parsed is what an entry of the cache says, and its revision.
type parsed struct {
	revision int64
	role     role
	rules    []rbacv1.PolicyRule
	binding  *binding // nil: it is a role
}

// New makes an authorizer.
func New(o Options) *Authorizer {
	return &Authorizer{collections: [4]*cache.Collection{o.ClusterRoles, o.Roles, o.ClusterRoleBindings, o.RoleBindings}}
}

// Authorize says whether a grant of the user's allows the request, and by which, or what was missing.
func (a *Authorizer) Authorize(u *request.User, i *request.Info) (bool, string) {
	x, err := a.index()
	if err != nil {
		return false, "RBAC: " + err.Error()
	}
	return x.authorize(u, i)
}

func (x *index) authorize(u *request.User, i *request.Info) (bool, string) {
	var by *grant
	var errs []error
	x.visit(u, i.Namespace, func(g *grant, rules []rbacv1.PolicyRule, err error) bool {
		if err != nil {
			errs = append(errs, err)
		}
		if allows(rules, i) {
			by = g
		}
		return by == nil
	})
	switch {
	case by != nil:
		return true, by.allowed()
	case len(errs) > 0:
		return false, fmt.Sprintf("RBAC: %v", utilerrors.NewAggregate(errs))
	}
	return false, ""
}

// Rules are all that a user has in a namespace. The error tells of roles that are missing; the rules hold nevertheless.
func (a *Authorizer) Rules(u *request.User, namespace string) ([]rbacv1.PolicyRule, error) {
	x, err := a.index()
	if err != nil {
		return nil, err
	}
	var out []rbacv1.PolicyRule
	var errs []error
	x.visit(u, namespace, func(_ *grant, rules []rbacv1.PolicyRule, err error) bool {
		out = append(out, rules...)
		if err != nil {
			errs = append(errs, err)
		}
		return true
	})
	return out, utilerrors.NewAggregate(errs)
}

// index gives the index of what is in the cache.
func (a *Authorizer) index() (*index, error) {
	if c := a.current.Load(); c != nil && c.changes == a.changes() {
		return c.index, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	changes := a.changes()
	if c := a.current.Load(); c != nil && c.changes == changes {
		return c.index, nil
	}
	rules := map[role][]rbacv1.PolicyRule{}
	var bindings []*binding
	read := map[string]parsed{}
	for _, c := range a.collections {
		for _, e := range entries(c) {
			p, ok := a.read[e.Key]
			if !ok || p.revision != e.Revision {
				var err error
				if p, err = parse(e); err != nil {
					return nil, err
				}
			}
			read[e.Key] = p
			if p.binding != nil {
				bindings = append(bindings, p.binding)
			} else {
				rules[p.role] = p.rules
			}
		}
	}
	a.read = read
	made := &dated{changes, newIndex(rules, bindings)}
	a.current.Store(made)
	return made.index, nil
}

func (a *Authorizer) changes() (out [4]int64) {
	for i, c := range a.collections {
		out[i] = c.Changes()
	}
	return out
}

func parse(e *cache.Entry) (parsed, error) {
	obj, err := e.Object()
	if err != nil {
		return parsed{}, err
	}
	p := parsed{revision: e.Revision}
	switch o := obj.(type) {
	case *rbacv1.ClusterRole:
		p.role, p.rules = role{name: o.Name}, o.Rules
	case *rbacv1.Role:
		p.role, p.rules = role{o.Namespace, o.Name}, o.Rules
	case *rbacv1.ClusterRoleBinding:
		p.binding = &binding{name: o.Name, ref: o.RoleRef, subjects: o.Subjects}
	case *rbacv1.RoleBinding:
		p.binding = &binding{namespace: o.Namespace, name: o.Name, ref: o.RoleRef, subjects: o.Subjects}
	}
	return p, nil
}

// entries are all of a collection, by key.
func entries(c *cache.Collection) []*cache.Entry {
	var out []*cache.Entry
	c.Snapshot().Ascend(c.Prefix(), "", func(e *cache.Entry) bool {
		out = append(out, e)
		return true
	})
	return out
}
