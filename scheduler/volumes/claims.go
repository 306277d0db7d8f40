package volumes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"
)

// Claim is the name of a claim that a pod uses. Ephemeral ones are made for the pod alone.
type Claim struct {
	Name      string
	Ephemeral bool
}

// ClaimOf gives the claim behind one of a pod's volumes; ok is false when there is none.
func ClaimOf(pod *corev1.Pod, of *corev1.Volume) (claim Claim, ok bool) {
	switch {
	case of.PersistentVolumeClaim != nil:
		return Claim{Name: of.PersistentVolumeClaim.ClaimName}, true
	case of.Ephemeral != nil:
		return Claim{Name: ephemeral.VolumeClaimName(pod, of), Ephemeral: true}, true
	}
	return Claim{}, false
}

// ClaimsOf lists a pod's claims.
func ClaimsOf(pod *corev1.Pod) (claims []Claim) {
	for i := range pod.Spec.Volumes {
		if claim, ok := ClaimOf(pod, &pod.Spec.Volumes[i]); ok {
			claims = append(claims, claim)
		}
	}
	return claims
}

// Uses says that a pod uses a claim.
func Uses(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if pod.Namespace != claim.Namespace {
		return false
	}
	for _, used := range ClaimsOf(pod) {
		if used.Name == claim.Name {
			return true
		}
	}
	return false
}

// Claims are a pod's claims by what is to be done with them.
type Claims struct {
	// Bound have their volume; Delayed get one when a node is chosen; Immediate should have
	// one already.
	Bound, Delayed, Immediate []*corev1.PersistentVolumeClaim
	// free are the volumes for delayed claims, by class.
	free map[string][]*corev1.PersistentVolume
}

// isBound says that both sides know of each other.
func isBound(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Spec.VolumeName != "" && metav1.HasAnnotation(claim.ObjectMeta, volume.AnnBindCompleted)
}

// Sort sorts a pod's claims.
func (s *Store) Sort(pod *corev1.Pod) (*Claims, error) {
	sorted := &Claims{free: map[string][]*corev1.PersistentVolume{}}
	for _, used := range ClaimsOf(pod) {
		claim, err := s.claims.Get(pod.Namespace, used.Name)
		if err != nil {
			return nil, fmt.Errorf("error getting PVC %q: %w", pod.Namespace+"/"+used.Name, err)
		}
		if used.Ephemeral {
			if err := ephemeral.VolumeIsForPod(pod, claim); err != nil {
				return nil, err
			}
		}
		if isBound(claim) {
			sorted.Bound = append(sorted.Bound, claim)
			continue
		}
		delayed, err := volume.IsDelayBindingMode(claim, s.classes)
		if err != nil {
			return nil, err
		}
		if !delayed || claim.Spec.VolumeName != "" {
			sorted.Immediate = append(sorted.Immediate, claim)
			continue
		}
		sorted.Delayed = append(sorted.Delayed, claim)
		class := volume.GetPersistentVolumeClaimClass(claim)
		if sorted.free[class], err = s.ofClass(class); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}
