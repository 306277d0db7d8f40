package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// resource is how a kind is reached.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

// kinds finds the resources of kinds. Safe for concurrent use.
type kinds struct {
	discovery discovery.DiscoveryInterface
	objects   dynamic.Interface

	mu    sync.Mutex
	found map[schema.GroupVersionKind]resource
}

var errNoKind = errors.New("no such kind")

// find asks the server, once for each kind that there is.
func (k *kinds) find(kind schema.GroupVersionKind) (resource, error) {
	k.mu.Lock()
	known, ok := k.found[kind]
	k.mu.Unlock()
	if ok {
		return known, nil
	}
	served, err := k.discovery.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return resource{}, err
	}
	if err == nil {
		for i := range served.APIResources {
			r := &served.APIResources[i]
			if r.Kind != kind.Kind || len(r.Verbs) == 0 || strings.Contains(r.Name, "/") {
				continue
			}
			return k.keep(kind, resource{kind.GroupVersion().WithResource(r.Name), r.Namespaced}), nil
		}
	}
	return resource{}, fmt.Errorf("%w: %s", errNoKind, kind)
}

func (k *kinds) keep(kind schema.GroupVersionKind, r resource) resource {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.found == nil {
		k.found = map[schema.GroupVersionKind]resource{}
	}
	k.found[kind] = r
	return r
}

// await finds the resource of a kind, if need be once it is defined.
func (k *kinds) await(ctx context.Context, kind schema.GroupVersionKind) (resource, error) {
	r, err := k.find(kind)
	if !errors.Is(err, errNoKind) {
		return r, err
	}
	definitions := k.objects.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return definitions.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return definitions.Watch(ctx, o)
		},
	}
	_, err = watchtools.UntilWithSync(ctx, listWatch, &unstructured.Unstructured{}, nil, func(e watch.Event) (bool, error) {
		o, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Deleted {
			return false, nil
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, definition); err != nil {
			return false, nil // the API server's to refuse
		}
		ok = defines(definition, kind)
		if ok {
			r = k.keep(kind, resource{kind.GroupVersion().WithResource(definition.Status.AcceptedNames.Plural), definition.Spec.Scope == apiextensionsv1.NamespaceScoped})
		}
		return ok, nil
	})
	return r, err
}

// defines tells whether a definition is that of a kind, and served.
func defines(d *apiextensionsv1.CustomResourceDefinition, kind schema.GroupVersionKind) bool {
	if d.Spec.Group != kind.Group || d.Status.AcceptedNames.Kind != kind.Kind {
		return false
	}
	for _, c := range d.Status.Conditions {
		if c.Type != apiextensionsv1.Established || c.Status != apiextensionsv1.ConditionTrue {
			continue
		}
		for i := range d.Spec.Versions {
			if v := &d.Spec.Versions[i]; v.Name == kind.Version && v.Served {
				return true
			}
		}
	}
	return false
}
