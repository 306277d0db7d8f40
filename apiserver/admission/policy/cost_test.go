package policy

import (
	"log/slog"
	"testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// TestWithoutPoliciesNothingIsPaid: a write makes not a single allocation, and nothing is compiled.
func TestWithoutPoliciesNothingIsPaid(t *testing.T) {
	codecs := map[string]cache.Codec{}
	for _, name := range policies {
		codecs["/registry/"+name+"/"] = registry.Codec{}
	}
	o := Options{Collection: cache.New(cache.Options{Codecs: codecs, Logger: slog.New(slog.DiscardHandler)}).Collection}
	validating, mutating := NewValidating(o), NewMutating(o)
	a := &registry.Attributes{Operation: registry.Create, Resource: &resource.Resource{}}
	got := testing.AllocsPerRun(100, func() {
		if err := validating.Validate(t.Context(), a); err != nil {
			t.Error(err)
		}
		if err := mutating.Mutate(t.Context(), a); err != nil {
			t.Error(err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}
