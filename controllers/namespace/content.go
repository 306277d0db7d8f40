package namespace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// content is one namespaced resource that can be deleted.
type content struct {
	resource schema.GroupVersionResource
	// collection says that all objects can be deleted in one request, listable that one
	// can see what there is.
	collection, listable bool
}

// resources asks the server what namespaced resources can be deleted, pods first and the
// others in a fixed order. What can't be found out goes into the report.
func (r *reconciler) resources(ctx context.Context, report *Report) []content {
	lists, err := discovery.ServerPreferredNamespacedResourcesWithContext(ctx, r.discovery)
	report.DiscoveryError = err
	var found []content
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			report.GroupErrors = append(report.GroupErrors, err)
			continue
		}
		for i := range list.APIResources {
			verbs := list.APIResources[i].Verbs
			if slices.Contains(verbs, "delete") && !strings.Contains(list.APIResources[i].Name, "/") {
				found = append(found, content{
					resource:   gv.WithResource(list.APIResources[i].Name),
					collection: slices.Contains(verbs, "deletecollection"), listable: slices.Contains(verbs, "list"),
				})
			}
		}
	}
	slices.SortFunc(found, func(a, b content) int {
		if a.resource == pods || b.resource == pods {
			return rank(a.resource) - rank(b.resource)
		}
		return strings.Compare(a.resource.String(), b.resource.String())
	})
	return found
}

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func rank(resource schema.GroupVersionResource) int {
	if resource == pods {
		return 0
	}
	return 1
}

// empty asks for the deletion of every object of one resource and reports what is left.
func (r *reconciler) empty(ctx context.Context, namespace string, c content, grace time.Duration, report *Report) {
	fail := func(err error) { report.ContentErrors = append(report.ContentErrors, err) }
	present, err := r.list(ctx, namespace, c)
	if err != nil {
		fail(err)
		return
	}
	if c.listable && len(present) == 0 {
		return // and nothing can be made any more: the API server refuses it
	}
	if err := r.deleteAll(ctx, namespace, c, present); err != nil {
		fail(err)
		return
	}
	left, err := r.list(ctx, namespace, c)
	if err != nil {
		fail(err)
		return
	}
	report.Count(namespace, c.resource, left, grace)
}

func (r *reconciler) list(ctx context.Context, namespace string, c content) ([]metav1.PartialObjectMetadata, error) {
	if !c.listable {
		return nil, nil
	}
	list, err := r.metadata.Resource(c.resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	switch {
	case isUnserved(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list %s: %w", c.resource.GroupResource(), err)
	}
	return list.Items, nil
}

// deleteAll deletes in the background: what is owned by what is deleted here is deleted
// here too, and must not be orphaned.
func (r *reconciler) deleteAll(ctx context.Context, namespace string, c content, present []metav1.PartialObjectMetadata) error {
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	in := r.metadata.Resource(c.resource).Namespace(namespace)
	if c.collection {
		err := in.DeleteCollection(ctx, options, metav1.ListOptions{})
		if err == nil || !isUnserved(err) {
			return err
		}
	}
	for i := range present {
		err := in.Delete(ctx, present[i].Name, options)
		if err != nil && !isUnserved(err) {
			return err
		}
	}
	return nil
}

// isUnserved says that there is nothing (any more) to ask: the resource was withdrawn
// since discovery, or the object has gone.
func isUnserved(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}
