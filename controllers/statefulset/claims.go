package statefulset

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

func claimName(set *appsv1.StatefulSet, template string, ordinal int) string {
	return fmt.Sprintf("%s-%s-%d", template, set.Name, ordinal)
}

// claimsOf are the claims that the pod of an ordinal needs, in the order of the templates.
func claimsOf(set *appsv1.StatefulSet, ordinal int) []*corev1.PersistentVolumeClaim {
	claims := make([]*corev1.PersistentVolumeClaim, 0, len(set.Spec.VolumeClaimTemplates))
	for i := range set.Spec.VolumeClaimTemplates {
		claim := set.Spec.VolumeClaimTemplates[i].DeepCopy()
		claim.Name, claim.Namespace = claimName(set, claim.Name, ordinal), set.Namespace
		if claim.Labels == nil {
			claim.Labels = map[string]string{}
		}
		maps.Copy(claim.Labels, set.Spec.Selector.MatchLabels)
		claims = append(claims, claim)
	}
	return claims
}

// mountClaims makes the pod's volumes of the templates' names those of its claims.
func mountClaims(set *appsv1.StatefulSet, pod *corev1.Pod, ordinal int) {
	templates := set.Spec.VolumeClaimTemplates
	volumes := make([]corev1.Volume, 0, len(templates)+len(pod.Spec.Volumes))
	for i := range templates {
		volumes = append(volumes, corev1.Volume{Name: templates[i].Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(set, templates[i].Name, ordinal)},
		}})
	}
	for _, volume := range pod.Spec.Volumes {
		if !slices.ContainsFunc(templates, func(c corev1.PersistentVolumeClaim) bool { return c.Name == volume.Name }) {
			volumes = append(volumes, volume)
		}
	}
	pod.Spec.Volumes = volumes
	if len(volumes) == 0 {
		pod.Spec.Volumes = nil
	}
}

// retention says what the set does with claims: keep them, unless it says otherwise.
func retention(set *appsv1.StatefulSet) (deleteWithSet, deleteWithPod bool) {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil {
		return false, false
	}
	return policy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		policy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// claimOwners works out who shall own a claim, so that the garbage collector deletes it
// with the pod or with the set, as the set wants it: the pod owns it once it is condemned.
// A claim that belongs to an earlier pod or set of the name is left alone; one that another
// controller owns gets rid of our references. conflict says that there is such another.
func claimOwners(set *appsv1.StatefulSet, pod *corev1.Pod, condemned bool, refs []metav1.OwnerReference) (owners []metav1.OwnerReference, changed, conflict bool) {
	withSet, withPod := retention(set)
	hasSet, hasPod, weak, foreign := false, false, false, false
	for _, ref := range refs {
		switch {
		case names(ref, set, statefulSetKind) && ref.UID != set.UID, names(ref, pod, podKind) && ref.UID != pod.UID:
			return refs, false, withSet || withPod
		case ref.UID == set.UID:
			hasSet, weak = true, weak || !isController(ref)
		case ref.UID == pod.UID:
			hasPod, weak = true, weak || !isController(ref)
		default:
			foreign = foreign || isController(ref)
		}
	}
	conflict = foreign && (withSet || withPod)
	wantSet := withSet && (!withPod || !condemned) && !conflict
	wantPod := withPod && condemned && !conflict
	if hasSet == wantSet && hasPod == wantPod && (!weak || conflict) {
		return refs, false, conflict
	}
	owners = slices.DeleteFunc(slices.Clone(refs), func(ref metav1.OwnerReference) bool {
		return ref.UID == set.UID || ref.UID == pod.UID
	})
	if wantSet {
		owners = append(owners, *metav1.NewControllerRef(set, statefulSetKind))
	}
	if wantPod {
		owners = append(owners, *metav1.NewControllerRef(pod, podKind))
	}
	return owners, true, conflict
}

func isController(ref metav1.OwnerReference) bool { return ref.Controller != nil && *ref.Controller }

func names(ref metav1.OwnerReference, object metav1.Object, kind schema.GroupVersionKind) bool {
	return ref.APIVersion == kind.GroupVersion().String() && ref.Kind == kind.Kind && ref.Name == object.GetName()
}

// staleClaim says that a claim will be deleted with an earlier pod of the name; a new pod
// has to wait until it is gone.
func staleClaim(set *appsv1.StatefulSet, pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	_, withPod := retention(set)
	return withPod && slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return names(ref, pod, podKind) && ref.UID != pod.UID
	})
}
