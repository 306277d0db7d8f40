package volumebinder

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// ClaimView is everything that a decision about one claim rests on.
type ClaimView struct {
	Claim *corev1.PersistentVolumeClaim
	// Volumes are all there are.
	Volumes []*corev1.PersistentVolume
	// Classes are all there are.
	Classes []*storagev1.StorageClass
	// Waiting names the pods that have the claim as a volume and no node yet.
	Waiting []string
}

// Report is an event.
type Report struct{ Type, Reason, Message string }

// ClaimPlan is what to do about one claim.
type ClaimPlan struct {
	// Bind is the volume to bind to, or whose binding is to be finished.
	Bind *corev1.PersistentVolume
	// Phase for a claim without a volume; empty: leave it.
	Phase corev1.PersistentVolumeClaimPhase
	// Class to give to a claim that names none.
	Class string
	// Provisioner to ask for a volume, by annotations.
	Provisioner string
	Reports     []Report
}

func (p *ClaimPlan) report(kind, reason, format string, values ...any) {
	p.Reports = append(p.Reports, Report{kind, reason, fmt.Sprintf(format, values...)})
}

// volume finds the volume that the claim names; nil, if it isn't there.
func (v *ClaimView) volume() *corev1.PersistentVolume {
	for _, volume := range v.Volumes {
		if volume.Name == v.Claim.Spec.VolumeName {
			return volume
		}
	}
	return nil
}

func (v *ClaimView) class() *storagev1.StorageClass {
	name := storagehelpers.GetPersistentVolumeClaimClass(v.Claim)
	for _, class := range v.Classes {
		if class.Name == name {
			return class
		}
	}
	return nil
}

// DecideClaim works out one claim. It changes nothing that it is given.
func DecideClaim(view ClaimView) (ClaimPlan, error) {
	var plan ClaimPlan
	switch claim := view.Claim; {
	case metav1.HasAnnotation(claim.ObjectMeta, storagehelpers.AnnBindCompleted):
		plan.bound(&view)
		return plan, nil
	case claim.Spec.VolumeName == "":
		err := plan.search(&view)
		return plan, err
	}
	plan.named(&view)
	return plan, nil
}

// bound looks after a claim that has been bound before.
func (p *ClaimPlan) bound(view *ClaimView) {
	lost := func(reason, message string) {
		if p.Phase = corev1.ClaimLost; view.Claim.Status.Phase != corev1.ClaimLost {
			p.report(corev1.EventTypeWarning, reason, "%s", message)
		}
	}
	volume := view.volume()
	switch {
	case view.Claim.Spec.VolumeName == "":
		lost("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	case volume == nil:
		lost("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
	case volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.UID == view.Claim.UID:
		p.Bind = volume
	default:
		lost("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
	}
}

// named looks after a claim that names its volume.
func (p *ClaimPlan) named(view *ClaimView) {
	volume := view.volume()
	switch {
	case volume == nil:
		p.Phase = corev1.ClaimPending
	case volume.Spec.ClaimRef == nil:
		if err := satisfies(volume, view.Claim); err != nil {
			p.Phase = corev1.ClaimPending
			p.report(corev1.EventTypeWarning, "VolumeMismatch", "Cannot bind to requested volume %q: %v", volume.Name, err)
			return
		}
		p.Bind = volume
	case storagehelpers.IsVolumeBoundToClaim(volume, view.Claim):
		p.Bind = volume
	default:
		p.Phase = corev1.ClaimPending
		p.report(corev1.EventTypeWarning, "FailedBinding", "volume %q already bound to a different claim.", volume.Name)
	}
}

// search looks for a volume or, without one, for who might make it.
func (p *ClaimPlan) search(view *ClaimView) error {
	class := view.class()
	delayed := class != nil && ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer
	volume, err := match(view.Claim, view.Volumes, delayed)
	switch {
	case err != nil:
		return fmt.Errorf("error finding PV for claim %q: %w", view.Claim.Namespace+"/"+view.Claim.Name, err)
	case volume != nil:
		p.Bind = volume
		return nil
	}
	if !storagehelpers.PersistentVolumeClaimHasClass(view.Claim) {
		if preset := DefaultClass(view.Classes); preset != nil {
			p.Class = preset.Name
			return nil
		}
	}
	switch name := storagehelpers.GetPersistentVolumeClaimClass(view.Claim); {
	case delayed && !storagehelpers.IsDelayBindingProvisioning(view.Claim):
		p.Phase = corev1.ClaimPending
		p.wait(view.Waiting)
	case name == "":
		p.Phase = corev1.ClaimPending
		p.report(corev1.EventTypeNormal, "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
	case class == nil:
		p.report(corev1.EventTypeWarning, "ProvisioningFailed", "storageclass.storage.k8s.io %q not found", name)
	default:
		p.provision(class)
	}
	return nil
}

// wait says what a claim with delayed binding waits for.
func (p *ClaimPlan) wait(pods []string) {
	switch len(pods) {
	case 0:
		p.report(corev1.EventTypeNormal, "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case 1:
		p.report(corev1.EventTypeNormal, "WaitForPodScheduled", "waiting for pod %s to be scheduled", pods[0])
	default:
		p.report(corev1.EventTypeNormal, "WaitForPodScheduled", "waiting for pods %s to be scheduled", strings.Join(pods, ","))
	}
}

func (p *ClaimPlan) provision(class *storagev1.StorageClass) {
	provisioner, err := provisionerOf(class)
	if err != nil {
		p.report(corev1.EventTypeWarning, "ProvisioningFailed", "%v", err)
		return
	}
	p.Provisioner = provisioner
	p.report(corev1.EventTypeNormal, "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner '%s' "+
		"or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", provisioner)
}
