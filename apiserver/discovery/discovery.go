package discovery

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Discovery holds the documents for a set of resources. Resources may be added while it serves.
type Discovery struct {
	// ServerAddress is where clients of the legacy group reach the server, as host:port.
	ServerAddress string

	mu        sync.RWMutex
	resources []*resource.Resource
	groups    []string            // in order
	versions  map[string][]string // of each group, the preferred first
	etag      map[bool]string     // of the aggregated documents, by whether it is the legacy group's
}

// Add makes resources known.
func (d *Discovery) Add(rs ...*resource.Resource) { d.Swap(nil, rs...) }

// Swap makes resources known in place of others, all at once.
func (d *Discovery) Swap(gone []schema.GroupVersionResource, rs ...*resource.Resource) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resources = slices.DeleteFunc(d.resources, func(r *resource.Resource) bool { return slices.Contains(gone, r.GVR()) })
	d.resources = append(d.resources, rs...)
	slices.SortStableFunc(d.resources, func(a, b *resource.Resource) int { return cmp.Compare(a.Plural, b.Plural) })
	d.groups, d.versions = versionsOf(d.resources)
	d.etag = map[bool]string{}
	for _, legacy := range []bool{true, false} {
		b, err := json.Marshal(d.aggregated(legacy))
		if err != nil {
			panic(err) // plain structs encode
		}
		sum := sha512.Sum512(b)
		d.etag[legacy] = fmt.Sprintf("%X", sum)
	}
}

// priorities of the groups, as a genuine server lists them; others follow by name.
var priorities = []string{
	"", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch",
	"certificates.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io",
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io",
	"discovery.k8s.io", "resource.k8s.io", "flowcontrol.apiserver.k8s.io", "storagemigration.k8s.io",
}

// versionsOf gives the groups in order, each with its versions, the preferred first.
func versionsOf(resources []*resource.Resource) ([]string, map[string][]string) {
	by := map[string][]string{}
	for _, r := range resources {
		if !slices.Contains(by[r.Group], r.Version) {
			by[r.Group] = append(by[r.Group], r.Version)
		}
	}
	groups := make([]string, 0, len(by))
	for g, vs := range by {
		groups = append(groups, g)
		slices.SortFunc(vs, func(a, b string) int { return -compareVersions(a, b) })
	}
	rank := func(g string) int {
		if i := slices.Index(priorities, g); i >= 0 {
			return i
		}
		return len(priorities)
	}
	slices.SortFunc(groups, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return groups, by
}

// Groups is the document of /apis.
func (d *Discovery) Groups() *metav1.APIGroupList {
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := &metav1.APIGroupList{Groups: []metav1.APIGroup{}}
	for _, g := range d.groups {
		if g != "" {
			out.Groups = append(out.Groups, group(g, d.versions[g]))
		}
	}
	return out
}

func group(name string, versions []string) metav1.APIGroup {
	out := metav1.APIGroup{Name: name}
	for _, v := range versions {
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + v, Version: v})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

// Group is the document of /apis/GROUP; nil if there is none.
func (d *Discovery) Group(name string) *metav1.APIGroup {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if name == "" || len(d.versions[name]) == 0 {
		return nil
	}
	g := group(name, d.versions[name])
	return &g
}

// Has says whether there is a group of this name.
func (d *Discovery) Has(name string) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.versions[name]) > 0
}

// Legacy is the document of /api.
func (d *Discovery) Legacy() *metav1.APIVersions {
	return &metav1.APIVersions{Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: d.ServerAddress}}}
}

// Resources is the document of a group version; nil if there is none.
func (d *Discovery) Resources(gv schema.GroupVersion) *metav1.APIResourceList {
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := &metav1.APIResourceList{GroupVersion: gv.String(), APIResources: []metav1.APIResource{}}
	for _, r := range d.resources {
		if r.GVK().GroupVersion() != gv {
			continue
		}
		if r.New != nil {
			out.APIResources = append(out.APIResources, metav1.APIResource{
				Name: r.Plural, SingularName: r.Singular, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: r.Verbs,
				ShortNames: r.Short, Categories: r.Categories, StorageVersionHash: storageVersionHash(r),
			})
		}
		for _, s := range subresources(r) {
			res := metav1.APIResource{Name: r.Plural + "/" + s.Name, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: s.Verbs}
			if !s.GVK.Empty() {
				res.Kind = s.GVK.Kind
				if s.GVK.GroupVersion() != gv {
					res.Group, res.Version = s.GVK.Group, s.GVK.Version
				}
			}
			out.APIResources = append(out.APIResources, res)
		}
	}
	if len(out.APIResources) == 0 {
		return nil
	}
	return out
}

// storageVersionHash tells clients when a resource's stored version changes: metav1.APIResource's documentation. Empty for what is
// not stored.
func storageVersionHash(r *resource.Resource) string {
	if !r.Stored() {
		return ""
	}
	sum := sha256.Sum256([]byte(r.Storage.Group + "/" + r.Storage.Version + "/" + r.Storage.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// subresources in discovery's order: by name, but for custom resources, whose status comes first.
func subresources(r *resource.Resource) []resource.Subresource {
	out := slices.Clone(r.Subresources)
	if !r.Whole {
		slices.SortFunc(out, func(a, b resource.Subresource) int { return cmp.Compare(a.Name, b.Name) })
	}
	return out
}

// Custom says whether a group holds nothing but custom resources.
func (d *Discovery) Custom(group string) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return !slices.ContainsFunc(d.resources, func(r *resource.Resource) bool { return r.Group == group && !r.Whole })
}

// aggregated is the one document of all groups, or of the legacy group. The caller holds mu.
func (d *Discovery) aggregated(legacy bool) *apidiscoveryv2.APIGroupDiscoveryList {
	out := &apidiscoveryv2.APIGroupDiscoveryList{Items: []apidiscoveryv2.APIGroupDiscovery{}}
	for _, g := range d.groups {
		if (g == "") != legacy {
			continue
		}
		item := apidiscoveryv2.APIGroupDiscovery{}
		item.Name = g
		for _, v := range d.versions[g] {
			item.Versions = append(item.Versions, d.version(schema.GroupVersion{Group: g, Version: v}))
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func (d *Discovery) version(gv schema.GroupVersion) apidiscoveryv2.APIVersionDiscovery {
	out := apidiscoveryv2.APIVersionDiscovery{Version: gv.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for _, r := range d.resources {
		if r.GVK().GroupVersion() != gv {
			continue
		}
		scope := apidiscoveryv2.ScopeCluster
		if r.Namespaced {
			scope = apidiscoveryv2.ScopeNamespace
		}
		res := apidiscoveryv2.APIResourceDiscovery{
			Resource: r.Plural, SingularResource: r.Singular, Scope: scope, Verbs: r.Verbs, ShortNames: r.Short, Categories: r.Categories,
			ResponseKind: responseKind(gv, r.GVK(), r.Whole),
		}
		for _, s := range subresources(r) {
			kind := r.GVK()
			if !s.GVK.Empty() {
				kind = s.GVK
			}
			res.Subresources = append(res.Subresources, apidiscoveryv2.APISubresourceDiscovery{Subresource: s.Name, ResponseKind: responseKind(gv, kind, r.Whole), Verbs: s.Verbs})
		}
		out.Resources = append(out.Resources, res)
	}
	return out
}

// responseKind names a kind as aggregated discovery does: a kind of the group version that it stands in goes without both, unless
// it is a custom resource's.
func responseKind(in schema.GroupVersion, k schema.GroupVersionKind, custom bool) *metav1.GroupVersionKind {
	if k.GroupVersion() == in && !custom {
		return &metav1.GroupVersionKind{Kind: k.Kind}
	}
	return &metav1.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// Aggregated answers with all groups in one document, or 304 when the client has it.
func (d *Discovery) Aggregated(w http.ResponseWriter, r *http.Request, legacy bool) ([]byte, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	etag := `"` + d.etag[legacy] + `"`
	w.Header().Set("ETag", etag)
	w.Header().Add("Vary", "Accept")
	w.Header().Set("Cache-Control", "public")
	if strings.Contains(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return nil, false
	}
	list := d.aggregated(legacy)
	list.TypeMeta = metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}
	b, err := json.Marshal(list)
	if err != nil {
		panic(err) // plain structs encode
	}
	return b, true
}
