package garbagecollector

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// resources is what the server serves, as far as the collector is concerned.
type resources struct {
	// watchable are those that can be deleted, listed and watched, in the preferred
	// version of their group.
	watchable map[schema.GroupVersionResource]schema.GroupVersionKind
	// byKind finds the resource of a kind that an owner reference names, of any version.
	byKind map[schema.GroupVersionKind]mapping
}

type mapping struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// ignored are resources without owners that matter and with far too many objects.
var ignored = map[schema.GroupResource]bool{
	{Group: "", Resource: "events"}:              true,
	{Group: "events.k8s.io", Resource: "events"}: true,
}

// discover asks the server. When some groups can't be asked the rest is given all the
// same; it is an error only when there is nothing at all.
func discover(ctx context.Context, client discovery.ServerResourcesInterfaceWithContext) (resources, error) {
	groups, lists, err := client.ServerGroupsAndResourcesWithContext(ctx)
	if len(lists) == 0 {
		return resources{}, fmt.Errorf("discover resources: %w", err)
	}
	found := resources{
		watchable: map[schema.GroupVersionResource]schema.GroupVersionKind{},
		byKind:    map[schema.GroupVersionKind]mapping{},
	}
	preferred := map[string]string{}
	for _, group := range groups {
		preferred[group.Name] = group.PreferredVersion.GroupVersion
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue // a server that names its groups so can't be asked for them
		}
		for i := range list.APIResources {
			found.add(gv, preferred[gv.Group] == list.GroupVersion, &list.APIResources[i])
		}
	}
	found.dropOtherVersions(preferred)
	return found, nil
}

func (r *resources) add(gv schema.GroupVersion, preferred bool, resource *metav1.APIResource) {
	if isSubresource(resource.Name) {
		return
	}
	gvr, gvk := gv.WithResource(resource.Name), gv.WithKind(resource.Kind)
	r.byKind[gvk] = mapping{resource: gvr, namespaced: resource.Namespaced}
	if supports(resource.Verbs, "delete", "list", "watch") && !ignored[gvr.GroupResource()] {
		r.watchable[gvr] = gvk
	}
}

// dropOtherVersions keeps one version of each resource: the preferred one of its group,
// or any if the resource isn't served in that.
func (r *resources) dropOtherVersions(preferred map[string]string) {
	chosen := map[schema.GroupResource]schema.GroupVersionResource{}
	for gvr := range r.watchable {
		present, ok := chosen[gvr.GroupResource()]
		isPreferred := preferred[gvr.Group] == gvr.GroupVersion().String()
		if !ok || isPreferred || (preferred[gvr.Group] != present.GroupVersion().String() && gvr.Version > present.Version) {
			chosen[gvr.GroupResource()] = gvr
		}
	}
	for gvr := range r.watchable {
		if chosen[gvr.GroupResource()] != gvr {
			delete(r.watchable, gvr)
		}
	}
}

func isSubresource(name string) bool { return slices.Contains([]byte(name), '/') }

func supports(verbs []string, wanted ...string) bool {
	for _, verb := range wanted {
		if !slices.Contains(verbs, verb) {
			return false
		}
	}
	return true
}
