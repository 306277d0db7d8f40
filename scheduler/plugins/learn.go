package plugins

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	toolscache "k8s.io/client-go/tools/cache"
)

// Learn puts an object where Sources will find it, for a factory that doesn't watch. One of
// a kind that no plugin looks at is passed over.
func Learn(factory informers.SharedInformerFactory, object runtime.Object) error {
	informer := informerOf(factory, object)
	if informer == nil {
		return nil
	}
	if err := informer.GetIndexer().Add(object); err != nil {
		return fmt.Errorf("learn of a %T: %w", object, err)
	}
	return nil
}

func informerOf(factory informers.SharedInformerFactory, object runtime.Object) toolscache.SharedIndexInformer {
	switch object.(type) {
	case *corev1.Namespace:
		return factory.Core().V1().Namespaces().Informer()
	case *corev1.Service:
		return factory.Core().V1().Services().Informer()
	case *corev1.ReplicationController:
		return factory.Core().V1().ReplicationControllers().Informer()
	case *appsv1.ReplicaSet:
		return factory.Apps().V1().ReplicaSets().Informer()
	case *appsv1.StatefulSet:
		return factory.Apps().V1().StatefulSets().Informer()
	case *policyv1.PodDisruptionBudget:
		return factory.Policy().V1().PodDisruptionBudgets().Informer()
	case *corev1.PersistentVolumeClaim:
		return factory.Core().V1().PersistentVolumeClaims().Informer()
	case *corev1.PersistentVolume:
		return factory.Core().V1().PersistentVolumes().Informer()
	case *storagev1.StorageClass:
		return factory.Storage().V1().StorageClasses().Informer()
	case *storagev1.CSINode:
		return factory.Storage().V1().CSINodes().Informer()
	case *storagev1.CSIDriver:
		return factory.Storage().V1().CSIDrivers().Informer()
	case *storagev1.CSIStorageCapacity:
		return factory.Storage().V1().CSIStorageCapacities().Informer()
	case *storagev1.VolumeAttachment:
		return factory.Storage().V1().VolumeAttachments().Informer()
	}
	return nil
}
