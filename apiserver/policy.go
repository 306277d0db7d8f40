package apiserver

import (
	"context"
	"maps"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/auth/rbac/reconciliation"

	"github.com/kogge-dev/kogge/apiserver/authz/rbac"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// publishPolicy makes the roles and bindings that every cluster begins with. In a cluster that was here before, what is missing in them
// is added, unless their annotation rbac.authorization.kubernetes.io/autoupdate says "false".
func (s *Server) publishPolicy(ctx context.Context, c kubernetes.Interface) error {
	fresh := s.cache.Collection("/registry/clusterroles/").Len() == 0 && s.cache.Collection("/registry/clusterrolebindings/").Len() == 0
	each, ctx := errgroup.WithContext(ctx)
	each.SetLimit(16) // so that the store takes many at a time
	for _, o := range rbac.Policy() {
		each.Go(func() error {
			if fresh {
				return s.seed(ctx, o)
			}
			if s.holds(o) {
				return nil
			}
			return reconcilePolicy(ctx, c, o)
		})
	}
	return each.Wait()
}

// seed stores an object as it is: nobody needs to judge what comes from the server itself.
func (s *Server) seed(ctx context.Context, o resource.Object) error {
	reg, err := objects{s.handlers}.registry(rbacv1.GroupName, policyPlural(o))
	if err != nil {
		return err
	}
	return unlessThere(reg.Seed(ctx, o))
}

// policyPlural is the resource of a role or binding.
func policyPlural(o resource.Object) string {
	switch o.(type) {
	case *rbacv1.ClusterRole:
		return "clusterroles"
	case *rbacv1.ClusterRoleBinding:
		return "clusterrolebindings"
	case *rbacv1.Role:
		return "roles"
	}
	return "rolebindings"
}

// holds says that an object is there as it is to be, so that nothing needs to be asked for: in a cluster that begins with what another
// one had that is so of all.
func (s *Server) holds(o resource.Object) bool {
	have, err := objects{s.handlers}.Get(rbacv1.GroupName, policyPlural(o), o.GetNamespace(), o.GetName())
	if err != nil || !maps.Equal(have.GetLabels(), o.GetLabels()) || !maps.Equal(have.GetAnnotations(), o.GetAnnotations()) {
		return false
	}
	same := equality.Semantic.DeepEqual
	switch o := o.(type) {
	case *rbacv1.ClusterRole:
		h := have.(*rbacv1.ClusterRole)
		return same(h.AggregationRule, o.AggregationRule) && (o.AggregationRule != nil || same(h.Rules, o.Rules))
	case *rbacv1.ClusterRoleBinding:
		h := have.(*rbacv1.ClusterRoleBinding)
		return same(h.RoleRef, o.RoleRef) && same(h.Subjects, o.Subjects)
	case *rbacv1.Role:
		return same(have.(*rbacv1.Role).Rules, o.Rules)
	case *rbacv1.RoleBinding:
		h := have.(*rbacv1.RoleBinding)
		return same(h.RoleRef, o.RoleRef) && same(h.Subjects, o.Subjects)
	}
	return false
}

func reconcilePolicy(ctx context.Context, c kubernetes.Interface, o resource.Object) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	rbacClient := c.RbacV1()
	var err error
	switch o := o.(type) {
	case *rbacv1.ClusterRole:
		_, err = (&reconciliation.ReconcileRoleOptions{Role: reconciliation.ClusterRoleRuleOwner{ClusterRole: o}, Confirm: true,
			Client: reconciliation.ClusterRoleModifier{Client: rbacClient.ClusterRoles()}}).Run()
	case *rbacv1.Role:
		_, err = (&reconciliation.ReconcileRoleOptions{Role: reconciliation.RoleRuleOwner{Role: o}, Confirm: true,
			Client: reconciliation.RoleModifier{Client: rbacClient, NamespaceClient: c.CoreV1().Namespaces()}}).Run()
	case *rbacv1.ClusterRoleBinding:
		_, err = (&reconciliation.ReconcileRoleBindingOptions{RoleBinding: reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: o}, Confirm: true,
			Client: reconciliation.ClusterRoleBindingClientAdapter{Client: rbacClient.ClusterRoleBindings()}}).Run()
	case *rbacv1.RoleBinding:
		_, err = (&reconciliation.ReconcileRoleBindingOptions{RoleBinding: reconciliation.RoleBindingAdapter{RoleBinding: o}, Confirm: true,
			Client: reconciliation.RoleBindingClientAdapter{Client: rbacClient, NamespaceClient: c.CoreV1().Namespaces()}}).Run()
	}
	return err
}
