package plugins

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kogge-dev/kogge/scheduler/volumes"
)

// Sources is what plugins learn from the API beside nodes and pods.
type Sources struct {
	client       kubernetes.Interface
	namespaces   corelisters.NamespaceLister
	services     corelisters.ServiceLister
	controllers  corelisters.ReplicationControllerLister
	replicaSets  appslisters.ReplicaSetLister
	statefulSets appslisters.StatefulSetLister
	budgets      policylisters.PodDisruptionBudgetLister

	claims            corelisters.PersistentVolumeClaimLister
	persistentVolumes corelisters.PersistentVolumeLister
	classes           storagelisters.StorageClassLister
	csiNodes          storagelisters.CSINodeLister
	drivers           storagelisters.CSIDriverLister
	// attachments are indexed by their node.
	attachments toolscache.Indexer
	storage     *volumes.Store

	// counts and wishes are shared by the plugins of all profiles.
	counts *podCounts
	wishes *wishes
}

// attachmentsByNode is an index of VolumeAttachments.
const attachmentsByNode = "node"

// NewSources takes the listers from a factory, which thereby watches what they list once
// it is started.
func NewSources(client kubernetes.Interface, factory informers.SharedInformerFactory) (*Sources, error) {
	store, err := volumes.NewStore(factory)
	if err != nil {
		return nil, fmt.Errorf("watch storage: %w", err)
	}
	attachments := factory.Storage().V1().VolumeAttachments().Informer()
	err = attachments.AddIndexers(toolscache.Indexers{attachmentsByNode: func(object any) ([]string, error) {
		if attachment, ok := object.(*storagev1.VolumeAttachment); ok {
			return []string{attachment.Spec.NodeName}, nil
		}
		return nil, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("watch attachments of volumes: %w", err)
	}
	return &Sources{
		client:       client,
		namespaces:   factory.Core().V1().Namespaces().Lister(),
		services:     factory.Core().V1().Services().Lister(),
		controllers:  factory.Core().V1().ReplicationControllers().Lister(),
		replicaSets:  factory.Apps().V1().ReplicaSets().Lister(),
		statefulSets: factory.Apps().V1().StatefulSets().Lister(),
		budgets:      factory.Policy().V1().PodDisruptionBudgets().Lister(),

		claims:            factory.Core().V1().PersistentVolumeClaims().Lister(),
		persistentVolumes: factory.Core().V1().PersistentVolumes().Lister(),
		classes:           factory.Storage().V1().StorageClasses().Lister(),
		csiNodes:          factory.Storage().V1().CSINodes().Lister(),
		drivers:           factory.Storage().V1().CSIDrivers().Lister(),
		attachments:       attachments.GetIndexer(),
		storage:           store,

		counts: newPodCounts(),
		wishes: &wishes{},
	}, nil
}

// namespaceLabels gives a namespace's labels; nil when it isn't known.
func (s *Sources) namespaceLabels(name string) labels.Set {
	namespace, err := s.namespaces.Get(name)
	if err != nil {
		return nil
	}
	return namespace.Labels
}
