package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// The finalizers that keep storage while it is in use.
const (
	volumeProtection     = "kubernetes.io/pv-protection"
	claimProtection      = "kubernetes.io/pvc-protection"
	attributesProtection = "kubernetes.io/vac-protection"
)

// storageObjectInUseProtection puts finalizers on storage, which controllers remove once nobody uses it.
func storageObjectInUseProtection() plugin {
	return plugin{name: "StorageObjectInUseProtection", mutate: func(_ context.Context, a *registry.Attributes) error {
		if a.Operation != registry.Create || a.Subresource != "" {
			return nil
		}
		finalizer := ""
		switch a.Object.(type) {
		case *corev1.PersistentVolume:
			finalizer = volumeProtection
		case *corev1.PersistentVolumeClaim:
			finalizer = claimProtection
		case *storagev1.VolumeAttributesClass:
			finalizer = attributesProtection
		default:
			return nil
		}
		if list := a.Object.GetFinalizers(); !slices.Contains(list, finalizer) {
			a.Object.SetFinalizers(append(list, finalizer))
		}
		return nil
	}}
}

// persistentVolumeClaimResize lets only bound claims grow, of classes that allow it.
func persistentVolumeClaimResize(objects Objects) plugin {
	return plugin{name: "PersistentVolumeClaimResize", validate: func(_ context.Context, a *registry.Attributes) error {
		if !isCore(a, "persistentvolumeclaims") || a.Operation != registry.Update {
			return nil
		}
		claim, old := a.Object.(*corev1.PersistentVolumeClaim), a.Old.(*corev1.PersistentVolumeClaim)
		size, oldSize := claim.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
		if size.Cmp(oldSize) <= 0 {
			return nil
		}
		if old.Status.Phase != corev1.ClaimBound {
			return forbiddenf(a, "Only bound persistent volume claims can be expanded")
		}
		if name := storageClassOf(claim); name != "" && name == storageClassOf(old) {
			obj, err := objects.Get(storagev1.GroupName, "storageclasses", "", name)
			if err == nil && ptr.Deref(obj.(*storagev1.StorageClass).AllowVolumeExpansion, false) {
				return nil
			}
		}
		return forbiddenf(a, "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}}
}

// storageClassOf is the class that a claim names, in either way.
func storageClassOf(claim *corev1.PersistentVolumeClaim) string {
	if name, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	return ptr.Deref(claim.Spec.StorageClassName, "")
}
