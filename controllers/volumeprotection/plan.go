package volumeprotection

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// The finalizers of the three kinds.
const (
	ClaimFinalizer  = "kubernetes.io/pvc-protection"
	VolumeFinalizer = "kubernetes.io/pv-protection"
	ClassFinalizer  = "kubernetes.io/vac-protection"
)

// Verdict is what to do about an object's finalizer.
type Verdict int

// The verdicts.
const (
	// Leave the finalizer as it is.
	Leave Verdict = iota
	// Protect: add it.
	Protect
	// Release: take it off.
	Release
)

// Decide says what to do about an object's finalizer. An object that is being deleted
// without one is beyond help.
func Decide(object metav1.Object, finalizer string, used bool) Verdict {
	held := slices.Contains(object.GetFinalizers(), finalizer)
	switch leaving := object.GetDeletionTimestamp() != nil; {
	case !held && !leaving:
		return Protect
	case held && leaving && !used:
		return Release
	}
	return Leave
}

// mounts says that a pod on a node has the claim as a volume. One that was shut down for
// good no longer needs the claim that was made for it alone.
func mounts(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if pod.Spec.NodeName == "" {
		return false
	}
	shutDown := pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, -1) == 0
	return names(pod, claim, !shutDown)
}

// refersTo says that a pod that hasn't ended has the claim as a volume, wherever it runs.
func refersTo(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	return !podstate.Stopped(pod) && names(pod, claim, true)
}

func names(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim, withOwn bool) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		switch {
		case volume.PersistentVolumeClaim != nil:
			return volume.PersistentVolumeClaim.ClaimName == claim.Name
		case volume.Ephemeral != nil && withOwn:
			return ephemeral.VolumeClaimName(pod, &volume) == claim.Name && ephemeral.VolumeIsForPod(pod, claim) == nil
		}
		return false
	})
}

// unused is the condition by which a bound claim says whether any pod refers to it; nil, if
// it says so already.
func unused(claim *corev1.PersistentVolumeClaim, used bool, now time.Time) *corev1.PersistentVolumeClaimCondition {
	if claim.DeletionTimestamp != nil || claim.Status.Phase != corev1.ClaimBound {
		return nil
	}
	next := corev1.PersistentVolumeClaimCondition{
		Type: corev1.PersistentVolumeClaimUnused, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
		Reason: "NoPodsUsingPVC", Message: "No pods are currently referencing this PVC",
	}
	if used {
		next.Status, next.Reason, next.Message = corev1.ConditionFalse, "PodUsingPVC", "A pod is currently referencing this PVC"
	}
	for _, present := range claim.Status.Conditions {
		if present.Type == next.Type && (present.Status == corev1.ConditionTrue) == (next.Status == corev1.ConditionTrue) {
			return nil
		}
	}
	return &next
}

// classesOfClaim names the attribute classes that a claim wants, has, and is on the way to.
func classesOfClaim(claim *corev1.PersistentVolumeClaim) []string {
	classes := []string{ptr.Deref(claim.Spec.VolumeAttributesClassName, ""), ptr.Deref(claim.Status.CurrentVolumeAttributesClassName, "")}
	if claim.Status.ModifyVolumeStatus != nil {
		classes = append(classes, claim.Status.ModifyVolumeStatus.TargetVolumeAttributesClassName)
	}
	return slices.DeleteFunc(classes, func(class string) bool { return class == "" })
}
