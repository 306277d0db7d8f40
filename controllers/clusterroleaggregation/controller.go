package clusterroleaggregation

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	rbacv1ac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "clusterrole-aggregation-controller"

// Component fills aggregated ClusterRoles.
var Component = component.Component{
	Name:    name,
	Watches: []string{"rbac.authorization.k8s.io/clusterroles"},
	Writes:  []string{"rbac.authorization.k8s.io/clusterroles:rules of aggregated roles"},
	Add:     add,
}

func add(env component.Environment) error {
	err := env.Controller(name, 1).
		Watches(&rbacv1.ClusterRole{}, handler.EnqueueRequestsFromMapFunc(allRoles)).
		Complete(component.Quietly(&reconciler{client: env.Manager.GetClient()}))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

// allRoles maps every role to one request: any aggregated role might take it in, and of many changes at once, as when a cluster
// begins, one look at all of them is enough.
func allRoles(context.Context, client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: "all"}}}
}

type reconciler struct{ client client.Client }

// Reconcile fills all aggregated roles.
func (r *reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var list rbacv1.ClusterRoleList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list cluster roles: %w", err)
	}
	var failures []error
	for i := range list.Items {
		if role := &list.Items[i]; role.AggregationRule != nil {
			failures = append(failures, client.IgnoreNotFound(r.fill(ctx, role, list.Items)))
		}
	}
	return reconcile.Result{}, errors.Join(failures...)
}

// fill fills one role.
func (r *reconciler) fill(ctx context.Context, role *rbacv1.ClusterRole, all []rbacv1.ClusterRole) error {
	rules, err := Decide(role, all)
	if err != nil || equality.Semantic.DeepEqual(rules, role.Rules) {
		return err
	}
	applied := rbacv1ac.ClusterRole(role.Name)
	for _, rule := range rules {
		applied.WithRules(rbacv1ac.PolicyRule().WithVerbs(rule.Verbs...).WithAPIGroups(rule.APIGroups...).
			WithResources(rule.Resources...).WithResourceNames(rule.ResourceNames...).WithNonResourceURLs(rule.NonResourceURLs...))
	}
	if err := r.client.Apply(ctx, applied, client.FieldOwner(name), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply rules: %w", err)
	}
	return nil
}
