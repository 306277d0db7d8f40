package volumeprotection

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const classesName = "volumeattributesclass-protection-controller"

// Classes protects VolumeAttributesClasses that claims or volumes refer to.
var Classes = component.Component{
	Name:    classesName,
	Watches: []string{"storage.k8s.io/volumeattributesclasses", "persistentvolumeclaims", "persistentvolumes"},
	Writes:  []string{"storage.k8s.io/volumeattributesclasses:finalizer kubernetes.io/vac-protection"},
	Add:     addClasses,
}

func addClasses(env component.Environment) error {
	r := &classes{client: env.Manager.GetClient()}
	err := env.Controller(classesName, 5).
		For(&storagev1.VolumeAttributesClass{}).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(classesOf)).
		Watches(&corev1.PersistentVolume{}, handler.EnqueueRequestsFromMapFunc(classesOf)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", classesName, err)
	}
	return nil
}

// classesOf maps a claim or a volume to the classes that it refers to.
func classesOf(_ context.Context, object client.Object) (requests []reconcile.Request) {
	var names []string
	switch object := object.(type) {
	case *corev1.PersistentVolumeClaim:
		names = classesOfClaim(object)
	case *corev1.PersistentVolume:
		if class := ptr.Deref(object.Spec.VolumeAttributesClassName, ""); class != "" {
			names = []string{class}
		}
	}
	for _, name := range names {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return requests
}

type classes struct{ client client.Client }

// Reconcile looks after one class.
func (r *classes) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	class := &storagev1.VolumeAttributesClass{}
	if err := r.client.Get(ctx, request.NamespacedName, class); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	used, err := r.used(ctx, class.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, carryOut(ctx, r.client, class, ClassFinalizer, Decide(class, ClassFinalizer, used))
}

func (r *classes) used(ctx context.Context, class string) (bool, error) {
	var volumes corev1.PersistentVolumeList
	if err := r.client.List(ctx, &volumes, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list volumes: %w", err)
	}
	for i := range volumes.Items {
		if ptr.Deref(volumes.Items[i].Spec.VolumeAttributesClassName, "") == class {
			return true, nil
		}
	}
	var claims corev1.PersistentVolumeClaimList
	if err := r.client.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list claims: %w", err)
	}
	for i := range claims.Items {
		if slices.Contains(classesOfClaim(&claims.Items[i]), class) {
			return true, nil
		}
	}
	return false, nil
}
