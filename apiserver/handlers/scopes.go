package handlers

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Versions are all served resources whose objects are stored in the same place, that one included, by group and version.
func (h *Handlers) Versions(r *resource.Resource) []*resource.Resource {
	if r.Prefix == "" {
		return []*resource.Resource{r}
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	var out []*resource.Resource
	for _, s := range h.scopes {
		if s.Resource.Prefix == r.Prefix {
			out = append(out, s.Resource)
		}
	}
	slices.SortFunc(out, func(a, b *resource.Resource) int {
		return strings.Compare(a.Group+"/"+a.Version, b.Group+"/"+b.Version)
	})
	return out
}

// Kind gives the registry of a kind, or nil.
func (h *Handlers) Kind(gvk schema.GroupVersionKind) *registry.Registry {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, s := range h.scopes {
		if s.Registry != nil && s.Resource.GVK() == gvk {
			return s.Registry
		}
	}
	return nil
}
