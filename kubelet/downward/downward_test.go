package downward

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestField(t *testing.T) {
	t.Parallel()
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", UID: "u", Labels: map[string]string{"b": "2", "a": "1\n"}, Annotations: map[string]string{"example.com/X": "y"}},
		Spec:       v1.PodSpec{NodeName: "node", ServiceAccountName: "sa"},
	}
	facts := Facts{HostIPs: []string{"192.0.2.1"}, PodIPs: []string{"10.0.0.1", "fd00::1"}}
	for path, want := range map[string]string{
		"metadata.name": "p", "metadata.namespace": "n", "metadata.uid": "u", "metadata.labels": "a=\"1\\n\"\nb=\"2\"",
		"metadata.labels['b']": "2", "metadata.annotations['example.com/X']": "y", "spec.nodeName": "node",
		"spec.serviceAccountName": "sa", "status.hostIP": "192.0.2.1", "status.podIP": "10.0.0.1", "status.podIPs": "10.0.0.1,fd00::1",
	} {
		if got, err := Field(pod, path, facts); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"spec.containers", "metadata.name['x']", "metadata.labels['-']"} {
		if got, err := Field(pod, path, facts); err == nil {
			t.Errorf("%s = %q, want an error", path, got)
		}
	}
}

func TestResource(t *testing.T) {
	t.Parallel()
	pod := &v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "a", Resources: v1.ResourceRequirements{
		Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("250m")},
		Limits:   v1.ResourceList{v1.ResourceCPU: resource.MustParse("1500m")},
	}}}}}
	facts := Facts{Allocatable: v1.ResourceList{v1.ResourceMemory: resource.MustParse("4Gi")}}
	for _, test := range []struct{ resource, divisor, want string }{
		{"limits.cpu", "", "2"}, {"limits.cpu", "1m", "1500"}, {"requests.cpu", "", "1"}, {"limits.memory", "1Mi", "4096"}, {"requests.memory", "", "0"},
	} {
		selector := &v1.ResourceFieldSelector{Resource: test.resource}
		if test.divisor != "" {
			selector.Divisor = resource.MustParse(test.divisor)
		}
		if got, err := Resource(pod, selector, "a", facts); err != nil || got != test.want {
			t.Errorf("%s in %q = %q, %v; want %q", test.resource, test.divisor, got, err, test.want)
		}
	}
}
