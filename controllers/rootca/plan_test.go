package rootca

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestWanted(t *testing.T) {
	t.Parallel()
	first, change := Wanted("ns", nil, []byte("bundle"))
	if !change || first.Data[dataKey] != "bundle" || first.Name != configMapName || first.Namespace != "ns" {
		t.Fatalf("a missing one is made: got %v, change %v", first, change)
	}
	if _, change := Wanted("ns", first, []byte("bundle")); change {
		t.Error("one that is right is changed")
	}
	for name, damage := range map[string]func(*corev1.ConfigMap){
		"other bundle":   func(c *corev1.ConfigMap) { c.Data[dataKey] = "else" },
		"more data":      func(c *corev1.ConfigMap) { c.Data["more"] = "data" },
		"no description": func(c *corev1.ConfigMap) { c.Annotations = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			damaged := first.DeepCopy()
			damage(damaged)
			again, change := Wanted("ns", damaged, []byte("bundle"))
			if !change || len(again.Data) != 1 || again.Data[dataKey] != "bundle" || again.Annotations[descriptionAnnotation] == "" {
				t.Errorf("not repaired: %v", again)
			}
		})
	}
}
