package clusterroleaggregation

import (
	"context"
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
	r := &reconciler{client: env.Manager.GetClient()}
	err := env.Controller(name, 1).
		Watches(&rbacv1.ClusterRole{}, handler.EnqueueRequestsFromMapFunc(r.aggregated)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct{ client client.Client }

// aggregated maps a role to all that might take it in.
func (r *reconciler) aggregated(ctx context.Context, _ client.Object) (requests []reconcile.Request) {
	var list rbacv1.ClusterRoleList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range list.Items {
		if list.Items[i].AggregationRule != nil {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// Reconcile fills one role.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	role := &rbacv1.ClusterRole{}
	if err := r.client.Get(ctx, request.NamespacedName, role); err != nil || role.AggregationRule == nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var list rbacv1.ClusterRoleList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list cluster roles: %w", err)
	}
	rules, err := Decide(role, list.Items)
	if err != nil || equality.Semantic.DeepEqual(rules, role.Rules) {
		return reconcile.Result{}, err
	}
	applied := rbacv1ac.ClusterRole(role.Name)
	for _, rule := range rules {
		applied.WithRules(rbacv1ac.PolicyRule().WithVerbs(rule.Verbs...).WithAPIGroups(rule.APIGroups...).
			WithResources(rule.Resources...).WithResourceNames(rule.ResourceNames...).WithNonResourceURLs(rule.NonResourceURLs...))
	}
	if err := r.client.Apply(ctx, applied, client.FieldOwner(name), client.ForceOwnership); err != nil {
		return reconcile.Result{}, fmt.Errorf("apply rules: %w", err)
	}
	return reconcile.Result{}, nil
}
