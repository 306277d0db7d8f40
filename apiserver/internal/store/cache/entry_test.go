package cache

import (
	"testing"

	"k8s.io/apimachinery/pkg/fields"
)

func TestCompactFields(t *testing.T) {
	t.Parallel()
	set := fields.Set{"metadata.name": "a", "metadata.namespace": "b", "spec.nodeName": "", "status.phase": "Running"}
	kept := compact(set)
	if _, changed := kept.(selectable); !changed {
		t.Errorf("kept as %T", kept)
	}
	for _, name := range []string{"metadata.name", "metadata.namespace", "spec.nodeName", "status.phase", "spec.other", ""} {
		if kept.Has(name) != set.Has(name) || kept.Get(name) != set.Get(name) {
			t.Errorf("%q: %v %q, not %v %q", name, kept.Has(name), kept.Get(name), set.Has(name), set.Get(name))
		}
	}
	if again := compact(kept); again.Get("status.phase") != "Running" {
		t.Error("what is compact already was changed")
	}
}
