package serviceaccount

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "serviceaccount-controller"

// Component is the controller of default ServiceAccounts.
var Component = component.Component{
	Name:    name,
	First:   []client.Object{&corev1.Namespace{}, &corev1.ServiceAccount{}},
	Watches: []string{"namespaces", "serviceaccounts"},
	Writes:  []string{"serviceaccounts:create default"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient()}
	err := env.Controller(name, 2).
		For(&corev1.Namespace{}).
		Watches(&corev1.ServiceAccount{}, handler.EnqueueRequestsFromMapFunc(namespaceOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

// namespaceOf wakes the namespace whose default account appeared, changed or went.
func namespaceOf(_ context.Context, object client.Object) []reconcile.Request {
	if object.GetName() != defaultName {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: object.GetNamespace()}}}
}

type reconciler struct{ client client.Client }

// Reconcile makes the account of one namespace, if it needs one.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	namespace := &corev1.Namespace{}
	if err := r.client.Get(ctx, request.NamespacedName, namespace); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: defaultName}}
	err := r.client.Get(ctx, client.ObjectKeyFromObject(account), account.DeepCopy())
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("look for the default service account: %w", err)
	}
	if !Needed(namespace, err == nil) {
		return reconcile.Result{}, nil
	}
	if err := r.client.Create(ctx, account); err != nil && !apierrors.IsAlreadyExists(err) {
		return reconcile.Result{}, fmt.Errorf("create the default service account: %w", err)
	}
	return reconcile.Result{}, nil
}
