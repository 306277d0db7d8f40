package rootca

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "root-ca-certificate-publisher-controller"

// Component is the publisher of the root CA.
var Component = component.Component{
	Name:    name,
	Watches: []string{"namespaces", "configmaps"},
	Writes:  []string{"configmaps:kube-root-ca.crt"},
	Add:     add,
}

func add(env component.Environment) error {
	if len(env.RootCA) == 0 {
		return nil // nothing to publish, as upstream without --root-ca-file
	}
	r := &reconciler{client: env.Manager.GetClient(), bundle: env.RootCA}
	err := env.Controller(name, 2).
		For(&corev1.Namespace{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(namespaceOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

func namespaceOf(_ context.Context, object client.Object) []reconcile.Request {
	if object.GetName() != configMapName {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: object.GetNamespace()}}}
}

type reconciler struct {
	client client.Client
	bundle []byte
}

// Reconcile keeps the ConfigMap of one namespace. A namespace that is being deleted
// keeps its ConfigMap for as long as that goes by itself, and gets no new one.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	namespace := &corev1.Namespace{}
	if err := r.client.Get(ctx, request.NamespacedName, namespace); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if namespace.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	current := &corev1.ConfigMap{}
	err := r.client.Get(ctx, types.NamespacedName{Namespace: namespace.Name, Name: configMapName}, current)
	switch {
	case apierrors.IsNotFound(err):
		current = nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("look for config map %s: %w", configMapName, err)
	}
	wanted, change := Wanted(namespace.Name, current, r.bundle)
	switch {
	case !change:
		return reconcile.Result{}, nil
	case current != nil:
		err = r.client.Update(ctx, wanted)
	default:
		// Whoever made it meanwhile wakes us again through the watch.
		err = ignoreAlreadyExists(r.client.Create(ctx, wanted))
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("write config map %s: %w", configMapName, err)
	}
	return reconcile.Result{}, nil
}

func ignoreAlreadyExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
