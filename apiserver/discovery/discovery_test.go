package discovery

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/resources"
)

// TestResponseKinds holds that a kind of the group version that it stands in goes without group and version, and no other
// does: what kubectl's RESTMapper and `kubectl scale` read.
func TestResponseKinds(t *testing.T) {
	t.Parallel()
	d := &Discovery{}
	d.Add(resources.All()...)
	got := map[string]metav1.GroupVersionKind{}
	for _, legacy := range []bool{true, false} {
		b, ok := d.Aggregated(httptest.NewRecorder(), httptest.NewRequest("GET", "/apis", nil), legacy)
		if !ok {
			t.Fatal("not answered")
		}
		var list apidiscoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatal(err)
		}
		for _, g := range list.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					at := g.Name + "/" + v.Version + "/" + r.Resource
					got[at] = *r.ResponseKind
					for _, s := range r.Subresources {
						got[at+"/"+s.Subresource] = *s.ResponseKind
					}
				}
			}
		}
	}
	for at, want := range map[string]metav1.GroupVersionKind{
		"/v1/pods":                      {Kind: "Pod"},
		"/v1/pods/binding":              {Kind: "Binding"},
		"/v1/serviceaccounts/token":     {Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
		"apps/v1/deployments":           {Kind: "Deployment"},
		"apps/v1/deployments/scale":     {Group: "autoscaling", Version: "v1", Kind: "Scale"},
		"apps/v1/deployments/status":    {Kind: "Deployment"},
		"coordination.k8s.io/v1/leases": {Kind: "Lease"},
		"events.k8s.io/v1/events":       {Kind: "Event"},
	} {
		if got[at] != want {
			t.Errorf("%s: %+v, want %+v", at, got[at], want)
		}
	}
}

// TestStorageVersionHashes holds some against those of a genuine server.
func TestStorageVersionHashes(t *testing.T) {
	t.Parallel()
	d := &Discovery{}
	d.Add(resources.All()...)
	want := map[string]string{"controllerrevisions": "85nkx63pcBU=", "daemonsets": "dd7pWHUlMKQ=", "deployments": "8aSe+NMegvE=", "replicasets": "P1RzHs8/mWQ=", "statefulsets": "H+vl74LkKdo="}
	for _, r := range d.Resources(schema.GroupVersion{Group: "apps", Version: "v1"}).APIResources {
		if r.StorageVersionHash != want[r.Name] {
			t.Errorf("%s: %q, want %q", r.Name, r.StorageVersionHash, want[r.Name])
		}
	}
}
