package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// isDisk says that a volume is a disk that pods on one node may not be able to share.
func isDisk(v corev1.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil
}

// disksConflict says that two pods have a disk that they can't share.
func disksConflict(a, b *corev1.Pod) bool {
	for i := range a.Spec.Volumes {
		if !isDisk(a.Spec.Volumes[i]) {
			continue
		}
		for j := range b.Spec.Volumes {
			if sameDisk(&a.Spec.Volumes[i], &b.Spec.Volumes[j]) {
				return true
			}
		}
	}
	return false
}

// sameDisk says that two volumes are one disk and can't both be had. Most kinds can when
// both only read.
func sameDisk(a, b *corev1.Volume) bool {
	switch {
	case a.GCEPersistentDisk != nil && b.GCEPersistentDisk != nil:
		return a.GCEPersistentDisk.PDName == b.GCEPersistentDisk.PDName && !(a.GCEPersistentDisk.ReadOnly && b.GCEPersistentDisk.ReadOnly)
	case a.AWSElasticBlockStore != nil && b.AWSElasticBlockStore != nil:
		return a.AWSElasticBlockStore.VolumeID == b.AWSElasticBlockStore.VolumeID
	case a.ISCSI != nil && b.ISCSI != nil:
		return a.ISCSI.IQN == b.ISCSI.IQN && !(a.ISCSI.ReadOnly && b.ISCSI.ReadOnly)
	case a.RBD != nil && b.RBD != nil:
		shared := slices.ContainsFunc(a.RBD.CephMonitors, func(monitor string) bool { return slices.Contains(b.RBD.CephMonitors, monitor) })
		return shared && a.RBD.RBDPool == b.RBD.RBDPool && a.RBD.RBDImage == b.RBD.RBDImage && !(a.RBD.ReadOnly && b.RBD.ReadOnly)
	}
	return false
}
