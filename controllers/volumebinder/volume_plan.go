package volumebinder

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

// VolumePlan is what to do about one volume.
type VolumePlan struct {
	// Phase to give it, with a message; empty: leave it.
	Phase   corev1.PersistentVolumePhase
	Message string
	// Unbind it from a claim that has another.
	Unbind bool
	// Remove it: its claim is gone, and there is nothing outside that would go with it.
	Remove bool
	// WakeClaim has the claim looked at.
	WakeClaim bool
	Reports   []Report
	// ClaimReports are events of the claim.
	ClaimReports []Report
}

// DecideVolume works out one volume. claim is the one that its claimRef means, uid and all,
// or nil. It changes nothing that it is given.
func DecideVolume(volume *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) VolumePlan {
	var plan VolumePlan
	switch ref := volume.Spec.ClaimRef; {
	case ref == nil || ref.UID == "":
		plan.Phase = corev1.VolumeAvailable
	case claim == nil:
		plan.release(volume)
	case claim.Spec.VolumeName == "" && storagehelpers.CheckVolumeModeMismatches(&claim.Spec, &volume.Spec):
		mismatch := func(format, name string) []Report {
			return []Report{{corev1.EventTypeWarning, "VolumeMismatch", fmt.Sprintf(format, name)}}
		}
		plan.Reports = mismatch("Cannot bind PersistentVolume to requested PersistentVolumeClaim %q due to incompatible volumeMode.", claim.Name)
		plan.ClaimReports = mismatch("Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", volume.Name)
	case claim.Spec.VolumeName == "":
		plan.WakeClaim = true
	case claim.Spec.VolumeName == volume.Name:
		plan.Phase = corev1.VolumeBound
	case metav1.HasAnnotation(volume.ObjectMeta, storagehelpers.AnnDynamicallyProvisioned) &&
		volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete:
		// Made for a claim that found another volume meanwhile.
		plan.release(volume)
	default:
		plan.Unbind = true
	}
	if plan.Phase == volume.Status.Phase {
		plan.Phase = ""
	}
	return plan
}

// release gives a volume up whose claim is gone, as its policy says.
func (p *VolumePlan) release(volume *corev1.PersistentVolume) {
	phase := volume.Status.Phase
	if phase != corev1.VolumeReleased && phase != corev1.VolumeFailed {
		// The policy is carried out once that is written.
		p.Phase = corev1.VolumeReleased
		return
	}
	fail := func(reason, format string, values ...any) {
		p.Message = fmt.Sprintf(format, values...)
		if p.Phase = corev1.VolumeFailed; phase != corev1.VolumeFailed {
			p.Reports = append(p.Reports, Report{corev1.EventTypeWarning, reason, p.Message})
		}
	}
	if volume.Annotations[storagehelpers.AnnMigratedTo] != "" {
		return
	}
	switch volume.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
	case corev1.PersistentVolumeReclaimRecycle:
		fail("VolumeFailedRecycle", "No recycler plugin found for the volume!")
	case corev1.PersistentVolumeReclaimDelete:
		maker := volume.Annotations[storagehelpers.AnnDynamicallyProvisioned]
		switch {
		case volume.Spec.CSI != nil || maker != "" && !strings.HasPrefix(maker, "kubernetes.io/"):
			// The driver deletes it.
		case volume.Spec.HostPath != nil && strings.HasPrefix(volume.Spec.HostPath.Path, "/tmp/") && len(volume.Spec.HostPath.Path) > len("/tmp/"):
			p.Remove = true
		case volume.Spec.HostPath != nil:
			fail("VolumeFailedDelete", "host_path deleter only supports /tmp/.+ but received provided %s", volume.Spec.HostPath.Path)
		default:
			fail("VolumeFailedDelete", "error getting deleter volume plugin for volume %q: no deletable volume plugin matched", volume.Name)
		}
	default:
		fail("VolumeUnknownReclaimPolicy", "Volume has unrecognized PersistentVolumeReclaimPolicy")
	}
}
