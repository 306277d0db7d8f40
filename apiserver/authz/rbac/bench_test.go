package rbac

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kogge-dev/kogge/apiserver/request"
)

// BenchmarkAllowed is what each request of a user pays whom one of 100 bindings allows it.
func BenchmarkAllowed(b *testing.B) {
	ref := rbacv1.RoleRef{Kind: "ClusterRole", Name: "read"}
	bindings := []*binding{{name: "everyone", ref: ref, subjects: []rbacv1.Subject{{Kind: "Group", Name: "devs"}}}}
	for i := range 99 {
		bindings = append(bindings, &binding{name: "other", ref: ref, subjects: []rbacv1.Subject{{Kind: "User", Name: string(rune('a' + i))}}})
	}
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	x := newIndex(map[role][]rbacv1.PolicyRule{{name: "read"}: rules}, bindings)
	u := &request.User{Name: "ann", Groups: []string{"system:authenticated", "devs"}}
	i := &request.Info{IsResource: true, Verb: "get", Version: "v1", Resource: "pods", Namespace: "n", Name: "p"}
	b.ReportAllocs()
	for b.Loop() {
		if ok, reason := x.authorize(u, i); !ok {
			b.Fatal(reason)
		}
	}
}
