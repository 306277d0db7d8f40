package volumes

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// capacityFor gives the capacity that a claim's volume can be made out of on a node, or why
// there is none. Drivers that don't report capacities are taken to have enough.
func (s *Store) capacityFor(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, node *corev1.Node) (*storagev1.CSIStorageCapacity, string, error) {
	size, asked := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !asked {
		return nil, "", nil
	}
	driver, err := s.drivers.Get(class.Provisioner)
	if apierrors.IsNotFound(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return nil, "", nil
	}
	capacities, err := s.capacities.List(labels.Everything())
	if err != nil {
		return nil, "", err
	}
	for _, capacity := range capacities {
		limit := LargestVolume(capacity)
		if capacity.StorageClassName == class.Name && limit != nil && limit.Value() >= size.Value() && reaches(capacity, node) {
			return capacity, "", nil
		}
	}
	return nil, noSpace, nil
}

// LargestVolume is how large a volume made out of a capacity may be; nil when that isn't
// known.
func LargestVolume(capacity *storagev1.CSIStorageCapacity) *resource.Quantity {
	if capacity.MaximumVolumeSize != nil {
		return capacity.MaximumVolumeSize
	}
	return capacity.Capacity
}

func reaches(capacity *storagev1.CSIStorageCapacity, node *corev1.Node) bool {
	if capacity.NodeTopology == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(capacity.NodeTopology)
	return err == nil && selector.Matches(labels.Set(node.Labels))
}
