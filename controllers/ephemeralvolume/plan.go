package ephemeralvolume

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
)

// Wanted says that the pod has ephemeral volumes that claims are made for.
func Wanted(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Ephemeral != nil {
			return pod.DeletionTimestamp == nil
		}
	}
	return false
}

// Decide gives the claim that a volume still lacks; nil, if there is none to make. present
// is the claim of its name that there is, or nil.
func Decide(pod *corev1.Pod, volume *corev1.Volume, present *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaim, error) {
	if volume.Ephemeral == nil {
		return nil, nil
	}
	if present != nil {
		if err := ephemeral.VolumeIsForPod(pod, present); err != nil {
			return nil, fmt.Errorf("ephemeral volume %s: %w", volume.Name, err)
		}
		return nil, nil
	}
	template := volume.Ephemeral.VolumeClaimTemplate.DeepCopy()
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: ephemeral.VolumeClaimName(pod, volume), Namespace: pod.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))},
			Annotations:     template.Annotations, Labels: template.Labels,
		},
		Spec: template.Spec,
	}, nil
}
