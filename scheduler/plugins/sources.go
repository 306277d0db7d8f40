package plugins

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
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
}

// NewSources takes the listers from a factory, which thereby watches what they list once
// it is started.
func NewSources(client kubernetes.Interface, factory informers.SharedInformerFactory) *Sources {
	return &Sources{
		client:       client,
		namespaces:   factory.Core().V1().Namespaces().Lister(),
		services:     factory.Core().V1().Services().Lister(),
		controllers:  factory.Core().V1().ReplicationControllers().Lister(),
		replicaSets:  factory.Apps().V1().ReplicaSets().Lister(),
		statefulSets: factory.Apps().V1().StatefulSets().Lister(),
		budgets:      factory.Policy().V1().PodDisruptionBudgets().Lister(),
	}
}

// namespaceLabels gives a namespace's labels; nil when it isn't known.
func (s *Sources) namespaceLabels(name string) labels.Set {
	namespace, err := s.namespaces.Get(name)
	if err != nil {
		return nil
	}
	return namespace.Labels
}
