package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// Vault is where copies are, outside of the cluster.
type Vault interface {
	// Forget removes a Backup's copies. That there are none is no error.
	Forget(ctx context.Context, namespace, name string) error
}

// Reconciler makes Backups real.
type Reconciler struct {
	Client client.Client
	Vault  Vault
}

// SetupWithManager lets the manager run it. Several may run in one process.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	skip := true
	return ctrl.NewControllerManagedBy(m).For(&v1.Backup{}).
		Owns(&appsv1.Deployment{}).Owns(&batchv1.Job{}).Owns(&batchv1.CronJob{}).
		WithOptions(controller.Options{SkipNameValidation: &skip}).Complete(r)
}

// Reconcile makes one Backup real.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	b := &v1.Backup{}
	if err := r.Client.Get(ctx, request.NamespacedName, b); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !b.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.release(ctx, b)
	}
	if controllerutil.AddFinalizer(b, v1.Finalizer) {
		return ctrl.Result{}, r.Client.Update(ctx, b)
	}
	store, first, err := r.own(ctx, b)
	if err != nil {
		return ctrl.Result{}, err
	}
	before := b.DeepCopy()
	tell(b, store, first)
	if equality.Semantic.DeepEqual(before.Status, b.Status) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Client.Status().Update(ctx, b)
}

// release forgets the copies and lets the Backup go.
func (r *Reconciler) release(ctx context.Context, b *v1.Backup) error {
	if !controllerutil.ContainsFinalizer(b, v1.Finalizer) {
		return nil
	}
	if err := r.Vault.Forget(ctx, b.Namespace, b.Name); err != nil {
		return fmt.Errorf("forget the copies: %w", err)
	}
	controllerutil.RemoveFinalizer(b, v1.Finalizer)
	return r.Client.Update(ctx, b)
}

// own makes what the Backup owns as it is planned.
func (r *Reconciler) own(ctx context.Context, b *v1.Backup) (*appsv1.Deployment, *batchv1.Job, error) {
	store := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: StoreName(b)}}
	first := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: FirstName(b)}}
	schedule := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name}}
	for _, o := range []struct {
		object client.Object
		plan   func()
	}{{store, func() { planStore(b, store) }}, {first, func() { planFirst(b, first) }}, {schedule, func() { planSchedule(b, schedule) }}} {
		if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, o.object, func() error {
			o.plan()
			return controllerutil.SetControllerReference(b, o.object, r.Client.Scheme())
		}); err != nil {
			return nil, nil, fmt.Errorf("%T %s: %w", o.object, o.object.GetName(), err)
		}
	}
	return store, first, nil
}
