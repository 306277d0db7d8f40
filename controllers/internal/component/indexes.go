package component

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/ephemeral"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Indexes over the shared cache of pods, for client.MatchingFields.
const (
	// PodOwnerIndex finds pods by the uid of their controller; orphans are found
	// under the empty string.
	PodOwnerIndex = "controllerUID"
	// PodNodeIndex finds pods by the node that they are bound to.
	PodNodeIndex = "spec.nodeName"
	// PodClaimIndex finds pods by the names of the claims that they have as volumes.
	PodClaimIndex = "claimNames"
)

// AddIndexes adds the indexes to a manager's cache. It is called once for each
// manager, before it starts.
func AddIndexes(ctx context.Context, m manager.Manager) error {
	indexer := m.GetFieldIndexer()
	err := indexer.IndexField(ctx, &corev1.Pod{}, PodOwnerIndex, func(object client.Object) []string {
		if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
			return []string{string(owner.UID)}
		}
		return []string{""}
	})
	if err != nil {
		return fmt.Errorf("index pods by owner: %w", err)
	}
	err = indexer.IndexField(ctx, &corev1.Pod{}, PodNodeIndex, func(object client.Object) []string {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" {
			return nil
		}
		return []string{pod.Spec.NodeName}
	})
	if err != nil {
		return fmt.Errorf("index pods by node: %w", err)
	}
	err = indexer.IndexField(ctx, &corev1.Pod{}, PodClaimIndex, func(object client.Object) []string {
		if pod, ok := object.(*corev1.Pod); ok {
			return ClaimsOf(pod)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index pods by claim: %w", err)
	}
	return nil
}

// ClaimsOf names the claims that a pod has as volumes, those made for it alone included.
func ClaimsOf(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		switch volume := &pod.Spec.Volumes[i]; {
		case volume.PersistentVolumeClaim != nil:
			names = append(names, volume.PersistentVolumeClaim.ClaimName)
		case volume.Ephemeral != nil:
			names = append(names, ephemeral.VolumeClaimName(pod, volume))
		}
	}
	return names
}
