package volumes

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/volume"
)

// byClass is the index of volumes by their storage class.
const byClass = "class"

// Store is what the cluster says of storage, with what is about to be written laid over it.
type Store struct {
	claims     *assumed[*corev1.PersistentVolumeClaim]
	volumes    *assumed[*corev1.PersistentVolume]
	byClass    toolscache.Indexer
	classes    storagelisters.StorageClassLister
	drivers    storagelisters.CSIDriverLister
	capacities storagelisters.CSIStorageCapacityLister
	pods       corelisters.PodLister
	nodes      corelisters.NodeLister

	changed *bell
}

// NewStore takes what it needs from a factory, which thereby watches it once it is started.
func NewStore(factory informers.SharedInformerFactory) (*Store, error) {
	core, storage := factory.Core().V1(), factory.Storage().V1()
	claims, volumes := core.PersistentVolumeClaims(), core.PersistentVolumes()
	s := &Store{
		byClass: volumes.Informer().GetIndexer(), classes: storage.StorageClasses().Lister(),
		drivers: storage.CSIDrivers().Lister(), capacities: storage.CSIStorageCapacities().Lister(),
		pods: core.Pods().Lister(), nodes: core.Nodes().Lister(), changed: newBell(),
	}
	s.claims = newAssumed(func(namespace, name string) (*corev1.PersistentVolumeClaim, error) {
		return claims.Lister().PersistentVolumeClaims(namespace).Get(name)
	})
	s.volumes = newAssumed(func(_, name string) (*corev1.PersistentVolume, error) { return volumes.Lister().Get(name) })
	if err := volumes.Informer().AddIndexers(toolscache.Indexers{byClass: classOf}); err != nil {
		return nil, err
	}
	ring := toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { s.changed.ring() }, UpdateFunc: func(_, _ any) { s.changed.ring() }, DeleteFunc: func(any) { s.changed.ring() },
	}
	for _, informer := range []toolscache.SharedIndexInformer{claims.Informer(), volumes.Informer()} {
		if _, err := informer.AddEventHandler(ring); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func classOf(object any) ([]string, error) {
	if pv, ok := object.(*corev1.PersistentVolume); ok {
		return []string{volume.GetPersistentVolumeClass(pv)}, nil
	}
	return nil, nil
}

// ofClass gives the volumes of a class.
func (s *Store) ofClass(class string) ([]*corev1.PersistentVolume, error) {
	objects, err := s.byClass.ByIndex(byClass, class)
	if err != nil {
		return nil, err
	}
	found := make([]*corev1.PersistentVolume, 0, len(objects))
	for _, object := range objects {
		if pv, ok := object.(*corev1.PersistentVolume); ok {
			found = append(found, s.volumes.over(pv))
		}
	}
	return found, nil
}
