package controllers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kogge-dev/kogge/internal/handover"
)

// sharing lets informers share their objects with others of the process.
type sharing struct {
	sharer *handover.Sharer
	scheme *runtime.Scheme
	mapper meta.RESTMapper
}

// source is what an informer of objects like the example watches; the given one where there is nothing to share.
func (s sharing) source(given toolscache.ListerWatcher, example runtime.Object) toolscache.ListerWatcher {
	if _, tree := example.(runtime.Unstructured); tree || s.sharer == nil {
		return given
	}
	gvk, err := apiutil.GVKForObject(example, s.scheme)
	if err != nil {
		return given
	}
	mapping, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return given
	}
	_, partial := example.(*metav1.PartialObjectMetadata)
	return s.sharer.ListWatch(given, handover.Watch{Path: handover.PathOf(mapping.Resource), Metadata: partial})
}
