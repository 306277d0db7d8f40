package resourceclaim

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// longestBase is how long the base of a generated name may be, without its hyphen and random characters.
const longestBase = 57

// Name gives the claim of one entry of a pod. known is false while a claim is still to be made of a template; an empty
// name that is known needs no claim.
func Name(pod *corev1.Pod, entry *corev1.PodResourceClaim) (name string, generated, known bool) {
	if entry.ResourceClaimName != nil {
		return *entry.ResourceClaimName, false, true
	}
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.Name == entry.Name {
			if s.ResourceClaimName == nil {
				return "", true, true
			}
			return *s.ResourceClaimName, true, true
		}
	}
	return "", true, false
}

// IsFor says that a claim was made for the pod.
func IsFor(pod *corev1.Pod, claim *resourcev1.ResourceClaim) bool {
	return claim.Namespace == pod.Namespace && metav1.IsControlledBy(claim, pod)
}

// Find looks for the claim that was made for a pod's entry, among all of its namespace.
func Find(pod *corev1.Pod, entry string, claims []resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	for i := range claims {
		if claims[i].Annotations[resourcev1.PodResourceClaimAnnotation] == entry && IsFor(pod, &claims[i]) {
			return &claims[i]
		}
	}
	return nil
}

// Make gives the claim that a template describes for a pod's entry.
func Make(pod *corev1.Pod, entry string, template *resourcev1.ResourceClaimTemplate) *resourcev1.ResourceClaim {
	annotations := maps.Clone(template.Spec.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[resourcev1.PodResourceClaimAnnotation] = entry
	yes := true
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: base(pod.Name, entry), Namespace: pod.Namespace, Annotations: annotations, Labels: template.Spec.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &yes}},
		},
		Spec: *template.Spec.Spec.DeepCopy(),
	}
}

// base is what a claim's generated name begins with. One too long is cut in both of its parts, in proportion.
func base(pod, entry string) string {
	full := pod + "-" + entry + "-"
	if len(full) <= longestBase {
		return full
	}
	return pod[:len(pod)*longestBase/len(full)] + "-" + entry[:len(entry)*longestBase/len(full)]
}

// Noted merges names of claims into those that the pod's status has, sorted by entry.
func Noted(pod *corev1.Pod, made map[string]string) []corev1.PodResourceClaimStatus {
	all := map[string]string{}
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.ResourceClaimName != nil {
			all[s.Name] = *s.ResourceClaimName
		}
	}
	maps.Copy(all, made)
	var out []corev1.PodResourceClaimStatus
	for _, entry := range slices.Sorted(maps.Keys(all)) {
		name := all[entry]
		out = append(out, corev1.PodResourceClaimStatus{Name: entry, ResourceClaimName: &name})
	}
	return out
}

// Reservation is the reservation that a pod which is on a node lacks; nil when there is nothing to add.
func Reservation(pod *corev1.Pod, claim *resourcev1.ResourceClaim) *resourcev1.ResourceClaimConsumerReference {
	if claim.Status.Allocation == nil || len(claim.Status.ReservedFor) >= resourcev1.ResourceClaimReservedForMaxSize {
		return nil
	}
	for _, r := range claim.Status.ReservedFor {
		if r.UID == pod.UID {
			return nil
		}
	}
	return &resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
}

// Done says that none of a pod's containers runs or ever will.
func Done(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed ||
		(pod.DeletionTimestamp != nil && pod.Spec.NodeName == "")
}

// Settlement is what is to be done about a claim.
type Settlement struct {
	// Status is written when it isn't nil.
	Status *resourcev1.ResourceClaimStatus
	// Free takes the finalizer away that holds an allocation.
	Free bool
	// Delete removes a claim that was made for a pod which needs it no more.
	Delete bool
}

// Settle looks at a claim. stays says of a pod's reservation whether it stays; owner is the pod that the claim was made
// for, as the cache has it, or nil.
func Settle(claim *resourcev1.ResourceClaim, stays func(resourcev1.ResourceClaimConsumerReference) bool, owner *corev1.Pod) Settlement {
	status := claim.Status.DeepCopy()
	status.ReservedFor = slices.DeleteFunc(status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
		return r.APIGroup == "" && r.Resource == "pods" && !stays(r) // who others are is theirs to know
	})
	held, unused := slices.Contains(claim.Finalizers, resourcev1.Finalizer), len(status.ReservedFor) == 0
	var s Settlement
	if len(status.ReservedFor) < len(claim.Status.ReservedFor) {
		s.Status = status
	}
	// The last consumer takes the allocation along. One that nobody has used yet stays, unless the claim is to go; who
	// allocates puts the finalizer there first.
	if ended := s.Status != nil || claim.DeletionTimestamp != nil; held && unused && ended {
		if status.Allocation != nil {
			status.Allocation, s.Status = nil, status
		}
		s.Free = true
	}
	if unused && owner != nil && claim.DeletionTimestamp == nil {
		s.Delete = Owner(claim) == owner.Name && (!metav1.IsControlledBy(claim, owner) || Done(owner))
	}
	return s
}

// Owner is the name of the pod that a claim was made for; empty if there is none.
func Owner(claim *resourcev1.ResourceClaim) string {
	if o := metav1.GetControllerOfNoCopy(claim); o != nil && o.APIVersion == "v1" && o.Kind == "Pod" {
		return o.Name
	}
	return ""
}
