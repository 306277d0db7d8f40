package plugins

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/scheduler/volumes"
)

func (volumeBinding) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.ClassAdded | framework.VolumeAdded | framework.VolumeUpdated | framework.NodeAdded | framework.NodeLabels |
			framework.CSINodeAdded | framework.CapacityAdded},
		{Changes: framework.ClassUpdated, Helps: topologiesChanged},
		{Changes: framework.ClaimAdded | framework.ClaimUpdated, Helps: ownClaim},
		{Changes: framework.CSINodeUpdated, Helps: migrationChanged},
		{Changes: framework.CSIDriverUpdated, Helps: capacityIgnored},
		{Changes: framework.CapacityUpdated, Helps: capacityGrew},
	}
}

func (volumeRestrictions) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.PodGone, Helps: func(pod *corev1.Pod, event framework.Event) bool {
			return event.PodBefore == nil || freesVolume(pod, event.PodBefore)
		}},
		{Changes: framework.NodeAdded},
		{Changes: framework.ClaimAdded, Helps: namedClaim},
	}
}

func (volumeZone) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.ClassAdded, Helps: func(_ *corev1.Pod, event framework.Event) bool {
			class, ok := event.After.(*storagev1.StorageClass)
			return !ok || class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
		}},
		{Changes: framework.NodeAdded | framework.NodeLabels | framework.VolumeAdded},
		{Changes: framework.ClaimAdded | framework.ClaimUpdated, Helps: namedClaim},
		{Changes: framework.VolumeUpdated, Helps: func(_ *corev1.Pod, event framework.Event) bool {
			before, ok := event.Before.(*corev1.PersistentVolume)
			after, also := event.After.(*corev1.PersistentVolume)
			return !ok || !also || !reflect.DeepEqual(locations(before), locations(after))
		}},
	}
}

func (nodeVolumeLimits) Interests() []framework.Interest {
	return []framework.Interest{
		{Changes: framework.CSINodeAdded},
		{Changes: framework.CSINodeUpdated, Helps: limitGrew},
		{Changes: framework.PodGone, Helps: func(_ *corev1.Pod, event framework.Event) bool {
			return event.PodBefore == nil || len(volumes.ClaimsOf(event.PodBefore)) > 0
		}},
		{Changes: framework.ClaimAdded, Helps: ownClaim},
		{Changes: framework.AttachmentDeleted, Helps: func(pod *corev1.Pod, _ framework.Event) bool {
			for i := range pod.Spec.Volumes {
				if pod.Spec.Volumes[i].PersistentVolumeClaim != nil {
					return true
				}
			}
			return false
		}},
	}
}

// ownClaim says that the claim is one of the pod's.
func ownClaim(pod *corev1.Pod, event framework.Event) bool {
	claim, ok := event.After.(*corev1.PersistentVolumeClaim)
	return !ok || volumes.Uses(pod, claim)
}

// namedClaim says that the pod names the claim, so it isn't one made for the pod.
func namedClaim(pod *corev1.Pod, event framework.Event) bool {
	claim, ok := event.After.(*corev1.PersistentVolumeClaim)
	return !ok || pod.Namespace == claim.Namespace && usesOf(pod, []string{claim.Name}) > 0
}

// freesVolume says that a pod that is gone had a volume which another needs.
func freesVolume(pod, gone *corev1.Pod) bool {
	if pod.Namespace != gone.Namespace {
		return false
	}
	if disksConflict(pod, gone) {
		return true
	}
	var names []string
	for i := range pod.Spec.Volumes {
		if source := pod.Spec.Volumes[i].PersistentVolumeClaim; source != nil {
			names = append(names, source.ClaimName)
		}
	}
	return usesOf(gone, names) > 0
}

func topologiesChanged(_ *corev1.Pod, event framework.Event) bool {
	before, ok := event.Before.(*storagev1.StorageClass)
	after, also := event.After.(*storagev1.StorageClass)
	return !ok || !also || !apiequality.Semantic.DeepEqual(before.AllowedTopologies, after.AllowedTopologies)
}

func migrationChanged(_ *corev1.Pod, event framework.Event) bool {
	before, ok := event.Before.(*storagev1.CSINode)
	after, also := event.After.(*storagev1.CSINode)
	return !ok || !also || before.Annotations[corev1.MigratedPluginsAnnotationKey] != after.Annotations[corev1.MigratedPluginsAnnotationKey]
}

// capacityIgnored says that a driver whose inline volumes the pod has no longer reports how
// much room it has.
func capacityIgnored(pod *corev1.Pod, event framework.Event) bool {
	before, ok := event.Before.(*storagev1.CSIDriver)
	after, also := event.After.(*storagev1.CSIDriver)
	if !ok || !also {
		return true
	}
	reports := func(driver *storagev1.CSIDriver) bool {
		return driver.Spec.StorageCapacity != nil && *driver.Spec.StorageCapacity
	}
	for i := range pod.Spec.Volumes {
		if csi := pod.Spec.Volumes[i].CSI; csi != nil && csi.Driver == after.Name && reports(before) && !reports(after) {
			return true
		}
	}
	return false
}

func capacityGrew(_ *corev1.Pod, event framework.Event) bool {
	before, ok := event.Before.(*storagev1.CSIStorageCapacity)
	after, also := event.After.(*storagev1.CSIStorageCapacity)
	if !ok || !also {
		return true
	}
	was, is := volumes.LargestVolume(before), volumes.LargestVolume(after)
	return is != nil && (was == nil || is.Value() > was.Value())
}

// limitGrew says that a node takes more volumes of some driver.
func limitGrew(_ *corev1.Pod, event framework.Event) bool {
	before, ok := event.Before.(*storagev1.CSINode)
	after, also := event.After.(*storagev1.CSINode)
	if !ok || !also {
		return true
	}
	was := volumeLimits(before)
	for driver, limit := range volumeLimits(after) {
		if limit > was[driver] {
			return true
		}
	}
	return false
}
