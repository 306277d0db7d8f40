package rbac

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kogge-dev/kogge/apiserver/request"
)

func resourceRule(verbs, groups, resources string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{Verbs: strings.Fields(verbs), APIGroups: strings.Split(groups, " "), Resources: strings.Fields(resources), ResourceNames: names}
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule    rbacv1.PolicyRule
		request request.Info
		want    bool
	}{
		{resourceRule("get list", "", "pods"), request.Info{IsResource: true, Verb: "get", Resource: "pods", Name: "p"}, true},
		{resourceRule("get list", "", "pods"), request.Info{IsResource: true, Verb: "delete", Resource: "pods"}, false},
		{resourceRule("*", "", "pods"), request.Info{IsResource: true, Verb: "delete", Group: "apps", Resource: "pods"}, false},
		{resourceRule("*", "*", "*"), request.Info{IsResource: true, Verb: "update", Group: "x", Resource: "y", Subresource: "z"}, true},
		{resourceRule("*", "", "pods"), request.Info{IsResource: true, Verb: "get", Resource: "pods", Subresource: "log"}, false},
		{resourceRule("*", "", "pods/log"), request.Info{IsResource: true, Verb: "get", Resource: "pods", Subresource: "log"}, true},
		{resourceRule("*", "", "pods/log"), request.Info{IsResource: true, Verb: "get", Resource: "pods"}, false},
		{resourceRule("*", "apps", "*/scale"), request.Info{IsResource: true, Verb: "get", Group: "apps", Resource: "deployments", Subresource: "scale"}, true},
		{resourceRule("*", "apps", "*/scale"), request.Info{IsResource: true, Verb: "get", Group: "apps", Resource: "deployments"}, false},
		{resourceRule("get", "", "secrets", "a", "b"), request.Info{IsResource: true, Verb: "get", Resource: "secrets", Name: "b"}, true},
		{resourceRule("get", "", "secrets", "a"), request.Info{IsResource: true, Verb: "get", Resource: "secrets"}, false},
		{rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz/*"}}, request.Info{Verb: "get", Path: "/healthz/etcd"}, true},
		{rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/healthz"}}, request.Info{Verb: "get", Path: "/healthz/etcd"}, false},
		{rbacv1.PolicyRule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}, request.Info{Verb: "post", Path: "/x"}, true},
		{rbacv1.PolicyRule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}, request.Info{IsResource: true, Verb: "get", Resource: "pods"}, false},
	} {
		if got := allows([]rbacv1.PolicyRule{c.rule}, &c.request); got != c.want {
			t.Errorf("%v on %+v: %t", c.rule, c.request, got)
		}
	}
}

func TestWhoBindingsMean(t *testing.T) {
	t.Parallel()
	reads := []rbacv1.PolicyRule{resourceRule("get", "", "pods")}
	writes := []rbacv1.PolicyRule{resourceRule("create", "", "pods")}
	x := newIndex(map[role][]rbacv1.PolicyRule{{name: "read"}: reads, {"n", "write"}: writes}, []*binding{
		{name: "everyone", ref: rbacv1.RoleRef{Kind: "ClusterRole", Name: "read"}, subjects: []rbacv1.Subject{{Kind: "Group", Name: "devs"}}},
		{namespace: "n", name: "own", ref: rbacv1.RoleRef{Kind: "Role", Name: "write"}, subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "robot"}, {Kind: "User", Name: "ann"}}},
		{namespace: "n", name: "dangling", ref: rbacv1.RoleRef{Kind: "ClusterRole", Name: "none"}, subjects: []rbacv1.Subject{{Kind: "User", Name: "bob"}}},
	})
	list := func(u *request.User, namespace string) string {
		var out []string
		x.visit(u, namespace, func(g *grant, rules []rbacv1.PolicyRule, err error) bool {
			if err != nil {
				out = append(out, err.Error())
			} else {
				out = append(out, fmt.Sprintf("%v%d", g, len(rules)))
			}
			return true
		})
		return strings.Join(out, "; ")
	}
	for _, c := range []struct {
		user      request.User
		namespace string
		want      string
	}{
		{request.User{Name: "x", Groups: []string{"devs"}}, "", `ClusterRoleBinding "everyone" of ClusterRole "read" to Group "devs"1`},
		{request.User{Name: "devs"}, "", ``},
		{request.User{Name: "ann"}, "n", `RoleBinding "own/n" of Role "write" to User "ann"1`},
		{request.User{Name: "ann"}, "m", ``},
		{request.User{Name: "ann"}, "", ``},
		{request.User{Name: "system:serviceaccount:n:robot"}, "n", `RoleBinding "own/n" of Role "write" to ServiceAccount "robot/n"1`},
		{request.User{Name: "system:serviceaccount:m:robot"}, "n", ``},
		{request.User{Name: "bob"}, "n", `clusterrole.rbac.authorization.k8s.io "none" not found`},
	} {
		if got := list(&c.user, c.namespace); got != c.want {
			t.Errorf("%+v in %q: %s", c.user, c.namespace, got)
		}
	}
}

func TestMissingRights(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, r := range compact([]rbacv1.PolicyRule{
		resourceRule("get", "", "pods"), resourceRule("list", "", "pods"), resourceRule("get", "", "pods", "a"), resourceRule("get", "apps", "deployments"),
		{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}},
	}) {
		texts = append(texts, describe(r))
	}
	want := `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}
{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}
{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}
{NonResourceURLs:["/x"], Verbs:["get"]}`
	if got := strings.Join(texts, "\n"); got != want {
		t.Errorf("%s", got)
	}
}

// TestPolicy is whole, and everyone's own.
func TestPolicy(t *testing.T) {
	t.Parallel()
	first := Policy()
	if len(first) < 100 {
		t.Errorf("%d objects", len(first))
	}
	first[0].SetName("changed")
	if Policy()[0].GetName() == "changed" {
		t.Error("the objects are shared")
	}
	for _, o := range Policy() {
		if o.GetName() == "" || o.GetUID() != "" || len(o.GetManagedFields()) != 1 {
			t.Errorf("%T %s: %v", o, o.GetName(), o.GetManagedFields())
		}
	}
}
