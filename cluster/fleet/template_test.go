package fleet

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestNodesOfATemplate(t *testing.T) {
	t.Parallel()
	full := NodeTemplate{
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), "example.com/gpu": resource.MustParse("8")},
		Labels:   map[string]string{"pool": "big", "type": "own"},
		Taints:   []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}},
		Region:   "r", Zones: []string{"x", "y", "z"}, Prefix: "big-",
	}
	for _, c := range []struct {
		name     string
		template NodeTemplate
		index    int
		want     string
		address  string
		pods     string
		labels   map[string]string
		cpu      string
	}{
		{"first", NodeTemplate{}, 0, "node-0", "198.18.0.1", "10.128.0.0/24", map[string]string{"type": "simulated"}, "8"},
		{"beyond a byte", NodeTemplate{}, 300, "node-300", "198.18.1.45", "10.129.44.0/24", map[string]string{"type": "simulated"}, "8"},
		{"last", NodeTemplate{}, MostNodes - 1, "node-32767", "198.18.128.0", "10.255.255.0/24", map[string]string{"type": "simulated"}, "8"},
		{"all set", full, 4, "big-4", "198.18.0.5", "10.128.4.0/24", map[string]string{
			"pool": "big", "type": "own", corev1.LabelTopologyRegion: "r", corev1.LabelTopologyZone: "y"}, "64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.template.node(c.index)
			if s.name != c.want || s.address.String() != c.address || s.podRange.String() != c.pods {
				t.Errorf("%s %s %s, want %s %s %s", s.name, s.address, s.podRange, c.want, c.address, c.pods)
			}
			if !maps.Equal(s.labels, c.labels) || s.capacity.Cpu().String() != c.cpu || s.capacity.Memory().String() != "32Gi" {
				t.Errorf("labels %v, capacity %v", s.labels, s.capacity)
			}
			if !slices.Equal(s.taints, c.template.Taints) {
				t.Errorf("taints %v", s.taints)
			}
		})
	}
	if gpu := full.node(0).capacity["example.com/gpu"]; gpu.Value() != 8 {
		t.Errorf("extended resource %v", gpu)
	}
}
