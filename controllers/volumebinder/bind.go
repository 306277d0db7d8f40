package volumebinder

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// preResizeAnnotation holds a volume's capacity from before its file system is enlarged.
const preResizeAnnotation = "volume.alpha.kubernetes.io/pre-resize-capacity"

// BoundClaim is the claim as it names its volume; the claim itself, if it does already.
func BoundClaim(claim *corev1.PersistentVolumeClaim, volume *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	next := claim.DeepCopy()
	if claim.Spec.VolumeName != volume.Name {
		next.Spec.VolumeName = volume.Name
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, storagehelpers.AnnBoundByController, "yes")
	}
	if !metav1.HasAnnotation(next.ObjectMeta, storagehelpers.AnnBindCompleted) {
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, storagehelpers.AnnBindCompleted, "yes")
	}
	if equality.Semantic.DeepEqual(claim, next) {
		return claim
	}
	return next
}

// ClaimStatus is the status of a claim in a phase, with a volume or without. The capacity of
// a bound claim is left to whoever enlarges it.
func ClaimStatus(claim *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, volume *corev1.PersistentVolume) (corev1.PersistentVolumeClaimStatus, error) {
	status := *claim.Status.DeepCopy()
	status.Phase = phase
	if volume == nil {
		status.AccessModes, status.Capacity, status.CurrentVolumeAttributesClassName = nil, nil, nil
		return status, nil
	}
	status.AccessModes = volume.Spec.AccessModes
	if claim.Status.Phase == phase {
		return status, nil
	}
	capacity, ok := volume.Spec.Capacity[corev1.ResourceStorage]
	if !ok {
		return status, fmt.Errorf("PersistentVolume %q is without a storage capacity", volume.Name)
	}
	if text, resizing := volume.Annotations[preResizeAnnotation]; resizing {
		if before, err := resource.ParseQuantity(text); err == nil {
			capacity = before
		}
		status.Capacity = corev1.ResourceList{corev1.ResourceStorage: capacity}
	} else if present, ok := status.Capacity[corev1.ResourceStorage]; !ok || present.Cmp(capacity) != 0 {
		status.Capacity = volume.Spec.Capacity
	}
	if claim.Status.Phase == corev1.ClaimPending && phase == corev1.ClaimBound {
		status.CurrentVolumeAttributesClassName = volume.Spec.VolumeAttributesClassName
	}
	return status, nil
}

// writer writes claims and volumes.
type writer struct{ client client.Client }

// bind writes all that a binding lacks, in the order in which it can be taken up again.
func (w writer) bind(ctx context.Context, volume *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) error {
	next, changed, err := storagehelpers.GetBindVolumeToClaim(volume, claim)
	if err != nil {
		return fmt.Errorf("refer to the claim: %w", err)
	}
	if changed {
		if err := w.client.Update(ctx, next); err != nil {
			return fmt.Errorf("bind volume %s: %w", volume.Name, err)
		}
	}
	if err := w.phase(ctx, next, corev1.VolumeBound, ""); err != nil {
		return err
	}
	if bound := BoundClaim(claim, volume); bound != claim {
		if err := w.client.Update(ctx, bound); err != nil {
			return fmt.Errorf("bind claim: %w", err)
		}
		claim = bound
	}
	return w.claimPhase(ctx, claim, corev1.ClaimBound, volume)
}

// phase writes a volume's phase unless it has it.
func (w writer) phase(ctx context.Context, volume *corev1.PersistentVolume, phase corev1.PersistentVolumePhase, message string) error {
	if volume.Status.Phase == phase {
		return nil
	}
	next := volume.DeepCopy()
	next.Status.Phase, next.Status.Message = phase, message
	if err := w.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("write phase of volume %s: %w", volume.Name, err)
	}
	return nil
}

func (w writer) claimPhase(ctx context.Context, claim *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, volume *corev1.PersistentVolume) error {
	status, err := ClaimStatus(claim, phase, volume)
	if err != nil || equality.Semantic.DeepEqual(claim.Status, status) {
		return err
	}
	next := claim.DeepCopy()
	next.Status = status
	if err := w.client.Status().Update(ctx, next); err != nil {
		return fmt.Errorf("write phase of claim: %w", err)
	}
	return nil
}

// unbind takes a volume away from a claim that has another: all of it if the controller
// bound it, else only the uid, since the user wants it for a claim of that name.
func (w writer) unbind(ctx context.Context, volume *corev1.PersistentVolume) error {
	next := volume.DeepCopy()
	if metav1.HasAnnotation(volume.ObjectMeta, storagehelpers.AnnBoundByController) {
		next.Spec.ClaimRef = nil
		delete(next.Annotations, storagehelpers.AnnBoundByController)
	} else {
		next.Spec.ClaimRef.UID = ""
	}
	if err := w.client.Update(ctx, next); err != nil {
		return fmt.Errorf("unbind volume %s: %w", volume.Name, err)
	}
	return w.phase(ctx, next, corev1.VolumeAvailable, "")
}
