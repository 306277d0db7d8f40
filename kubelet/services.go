package kubelet

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kogge-dev/kogge/internal/handover"
)

// services are those of the cluster, for the variables that tell of them.
type services struct {
	informer cache.SharedIndexInformer
	lister   listers.ServiceLister
}

func newServices(client corev1.ServicesGetter) *services {
	s := &services{informer: cache.NewSharedIndexInformer(handover.Source(client.Services(metav1.NamespaceAll), ""), &v1.Service{}, 0, cache.Indexers{})}
	s.lister = listers.NewServiceLister(s.informer.GetIndexer())
	return s
}

func (s *services) run(ctx context.Context) error {
	s.informer.RunWithContext(ctx)
	return nil
}

// all returns every Service; until they have been read once that is an error, since a container without the API's
// address in its environment would never get it.
func (s *services) all() ([]*v1.Service, error) {
	if !s.informer.HasSynced() {
		return nil, errors.New("services have not yet been read at least once, cannot construct envvars")
	}
	return s.lister.List(labels.Everything())
}
