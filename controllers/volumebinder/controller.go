package volumebinder

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

const (
	name = "persistentvolume-binder-controller"
	// source is what its events name as their source.
	source = "persistentvolume-controller"
)

// Component binds claims and volumes.
var Component = component.Component{
	Name:    name,
	Watches: []string{"persistentvolumeclaims", "persistentvolumes", "storage.k8s.io/storageclasses", "pods"},
	Writes: []string{
		"persistentvolumeclaims:spec.volumeName", "persistentvolumeclaims:spec.storageClassName", "persistentvolumeclaims:status.phase",
		"persistentvolumes:spec.claimRef", "persistentvolumes:status", "persistentvolumes:delete",
	},
	Add: add,
}

// add registers two loops, of claims and of volumes.
func add(env component.Environment) error {
	b := &binder{writer: writer{env.Manager.GetClient()}, live: env.Manager.GetAPIReader(), events: env.Events(source)}
	err := env.Controller(name, 1).
		For(&corev1.PersistentVolumeClaim{}).
		Watches(&corev1.PersistentVolume{}, handler.EnqueueRequestsFromMapFunc(b.claimsOfVolume)).
		Watches(&storagev1.StorageClass{}, handler.EnqueueRequestsFromMapFunc(b.unboundClaims)).
		Complete(component.Quietly(reconcile.Func(b.claim)))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	err = env.Controller(name+"-volumes", 1).
		For(&corev1.PersistentVolume{}).
		Watches(&corev1.PersistentVolumeClaim{}, handler.EnqueueRequestsFromMapFunc(b.volumesOfClaim)).
		Complete(component.Quietly(reconcile.Func(b.volume)))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type binder struct {
	writer
	live   client.Reader
	events record.EventRecorder
	// deciding lets only one claim at a time be decided upon, so that no two take the same
	// free volume.
	deciding sync.Mutex
}

// claimsOfVolume maps a volume to the claim that it belongs to or, while it belongs to none,
// to all that might want it.
func (b *binder) claimsOfVolume(ctx context.Context, object client.Object) []reconcile.Request {
	volume, ok := object.(*corev1.PersistentVolume)
	if !ok {
		return nil
	}
	if ref := volume.Spec.ClaimRef; ref != nil {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}}}
	}
	return b.unboundClaims(ctx, object)
}

func (b *binder) unboundClaims(ctx context.Context, _ client.Object) (requests []reconcile.Request) {
	var list corev1.PersistentVolumeClaimList
	if err := b.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range list.Items {
		if !metav1.HasAnnotation(list.Items[i].ObjectMeta, storagehelpers.AnnBindCompleted) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// volumesOfClaim maps a claim to the volumes that refer to it.
func (b *binder) volumesOfClaim(ctx context.Context, claim client.Object) (requests []reconcile.Request) {
	var list corev1.PersistentVolumeList
	if err := b.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range list.Items {
		if ref := list.Items[i].Spec.ClaimRef; ref != nil && ref.Namespace == claim.GetNamespace() && ref.Name == claim.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// claim makes one pass over one claim.
func (b *binder) claim(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	b.deciding.Lock()
	defer b.deciding.Unlock()
	claim := &corev1.PersistentVolumeClaim{}
	if err := b.client.Get(ctx, request.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	view, err := b.view(ctx, claim)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan, err := DecideClaim(view)
	if err != nil {
		return reconcile.Result{}, err
	}
	b.report(claim, plan.Reports)
	return reconcile.Result{}, b.applyClaim(ctx, claim, plan)
}

func (b *binder) view(ctx context.Context, claim *corev1.PersistentVolumeClaim) (ClaimView, error) {
	view := ClaimView{Claim: claim}
	var volumes corev1.PersistentVolumeList
	if err := b.client.List(ctx, &volumes, client.UnsafeDisableDeepCopy); err != nil {
		return view, fmt.Errorf("list volumes: %w", err)
	}
	for i := range volumes.Items {
		view.Volumes = append(view.Volumes, &volumes.Items[i])
	}
	var classes storagev1.StorageClassList
	if err := b.client.List(ctx, &classes, client.UnsafeDisableDeepCopy); err != nil {
		return view, fmt.Errorf("list storage classes: %w", err)
	}
	for i := range classes.Items {
		view.Classes = append(view.Classes, &classes.Items[i])
	}
	var pods corev1.PodList
	err := b.client.List(ctx, &pods, client.InNamespace(claim.Namespace),
		client.MatchingFields{component.PodClaimIndex: claim.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return view, fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Spec.NodeName == "" && !podstate.Stopped(pod) {
			view.Waiting = append(view.Waiting, pod.Name)
		}
	}
	return view, nil
}

func (b *binder) applyClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, plan ClaimPlan) error {
	next := claim.DeepCopy()
	switch {
	case plan.Bind != nil:
		return b.bind(ctx, plan.Bind, claim)
	case plan.Class != "":
		next.Spec.StorageClassName = &plan.Class
	case plan.Provisioner != "" && claim.Annotations[storagehelpers.AnnStorageProvisioner] != plan.Provisioner:
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, storagehelpers.AnnBetaStorageProvisioner, plan.Provisioner)
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, storagehelpers.AnnStorageProvisioner, plan.Provisioner)
	case plan.Phase != "":
		return b.claimPhase(ctx, claim, plan.Phase, nil)
	default:
		return nil
	}
	if err := b.client.Update(ctx, next); err != nil {
		return fmt.Errorf("update claim: %w", err)
	}
	return nil
}

// volume makes one pass over one volume.
func (b *binder) volume(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	volume := &corev1.PersistentVolume{}
	if err := b.client.Get(ctx, request.NamespacedName, volume); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	claim, err := b.claimOf(ctx, volume)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := DecideVolume(volume, claim)
	b.report(volume, plan.Reports)
	if claim != nil {
		b.report(claim, plan.ClaimReports)
	}
	switch {
	case plan.Unbind:
		return reconcile.Result{}, b.unbind(ctx, volume)
	case plan.Remove:
		if err := b.client.Delete(ctx, volume); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("delete volume %s: %w", volume.Name, err)
		}
	case plan.WakeClaim:
		return b.claim(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(claim)})
	case plan.Phase != "":
		return reconcile.Result{}, b.phase(ctx, volume, plan.Phase, plan.Message)
	}
	return reconcile.Result{}, nil
}

// claimOf finds the claim that a volume refers to. That it is gone, or another, is asked of
// the API server itself: a volume that is given up loses its data.
func (b *binder) claimOf(ctx context.Context, volume *corev1.PersistentVolume) (*corev1.PersistentVolumeClaim, error) {
	ref := volume.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		return nil, nil
	}
	for _, reader := range []client.Reader{b.client, b.live} {
		claim := &corev1.PersistentVolumeClaim{}
		err := reader.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, claim)
		switch {
		case err == nil && claim.UID == ref.UID:
			return claim, nil
		case err != nil && !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("get the claim of volume %s: %w", volume.Name, err)
		}
	}
	return nil, nil
}

func (b *binder) report(about client.Object, reports []Report) {
	for _, report := range reports {
		b.events.Event(about, report.Type, report.Reason, report.Message)
	}
}
