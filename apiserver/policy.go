package apiserver

import (
	"context"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
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
			return reconcilePolicy(ctx, c, o)
		})
	}
	return each.Wait()
}

// seed stores an object as it is: nobody needs to judge what comes from the server itself.
func (s *Server) seed(ctx context.Context, o resource.Object) error {
	var plural string
	switch o.(type) {
	case *rbacv1.ClusterRole:
		plural = "clusterroles"
	case *rbacv1.ClusterRoleBinding:
		plural = "clusterrolebindings"
	case *rbacv1.Role:
		plural = "roles"
	case *rbacv1.RoleBinding:
		plural = "rolebindings"
	}
	reg, err := objects{s.handlers}.registry(rbacv1.GroupName, plural)
	if err != nil {
		return err
	}
	return unlessThere(reg.Seed(ctx, o))
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
