package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// quotas gives admission the ResourceQuotas.
type quotas struct{ server *Server }

func (q quotas) registry() *registry.Registry {
	return q.server.handlers.Registry(schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"})
}

// Any looks at the cache as it is.
func (q quotas) Any(namespace string) (found bool) {
	collection := q.registry().Collection()
	if collection.Len() == 0 {
		return false
	}
	prefix := collection.Prefix() + namespace + "/"
	collection.Snapshot().Ascend(prefix, "", func(*cache.Entry) bool {
		found = true
		return false
	})
	return found
}

// List reads a namespace's quotas, with every write that was acknowledged.
func (q quotas) List(ctx context.Context, namespace string) ([]*corev1.ResourceQuota, error) {
	reg := q.registry()
	list, err := reg.List(ctx, namespace, &internalversion.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list quotas: %w", err)
	}
	all := make([]*corev1.ResourceQuota, 0, len(list.Entries))
	for _, entry := range list.Entries {
		obj, err := reg.Object(&registry.Result{Entry: entry})
		if err != nil {
			return nil, fmt.Errorf("list quotas: %w", err)
		}
		all = append(all, obj.(*corev1.ResourceQuota))
	}
	return all, nil
}

// Charge writes a quota's status, by the same path as a client would.
func (q quotas) Charge(ctx context.Context, charged *corev1.ResourceQuota) error {
	reg := q.registry()
	write := registry.WriteOptions{Subresource: "status", Manager: "kube-apiserver"}
	transform := func(ctx context.Context, current resource.Object, exists bool) (resource.Object, error) {
		return reg.Replace(ctx, charged.Namespace, current, exists, charged.DeepCopy(), write)
	}
	_, err := reg.Update(ctx, charged.Namespace, charged.Name, transform, registry.UpdateOptions{WriteOptions: write, UID: charged.UID})
	return err
}
