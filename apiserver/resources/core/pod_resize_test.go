package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

// TestResize: what of a pod that runs may be resized.
func TestResize(t *testing.T) {
	t.Parallel()
	amounts := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	pod := func() *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{ServiceAccountName: "default", Containers: []corev1.Container{{Name: "c", Image: "i",
			Resources: corev1.ResourceRequirements{Requests: amounts("1", "1Gi"), Limits: amounts("2", "2Gi")}}}}}
		podspec.Default(&p.Spec)
		podspec.DefaultPod(&p.Spec)
		p.Status.QOSClass = podspec.QOS(&p.Spec)
		return p
	}
	for _, c := range []struct {
		name   string
		change func(*corev1.PodSpec)
		want   string
	}{
		{"more", func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests = amounts("1500m", "1Gi") }, ""},
		{"another class", func(s *corev1.PodSpec) { s.Containers[0].Resources.Requests = amounts("2", "2Gi") }, `spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing`},
		{"taken away", func(s *corev1.PodSpec) { delete(s.Containers[0].Resources.Limits, "cpu") }, "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"},
		{"another resource", func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Limits["ephemeral-storage"] = resource.MustParse("1Gi")
		}, "spec: Forbidden: only cpu and memory resources are mutable"},
		{"a container more", func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, s.Containers[0])
			s.Containers[1].Name = "d"
		}, "spec.containers: Forbidden: containers may not be added or removed on resize"},
		{"the image is dropped", func(s *corev1.PodSpec) { s.Containers[0].Image = "other" }, ""},
	} {
		now, old := pod(), pod()
		c.change(&now.Spec)
		keepButResources(now, old)
		errs := validateResize(now, old)
		switch {
		case c.want == "" && len(errs) > 0:
			t.Errorf("%s: %v", c.name, errs)
		case c.want != "" && (len(errs) != 1 || errs[0].Error() != c.want):
			t.Errorf("%s: got %v, want %s", c.name, errs, c.want)
		}
	}
}
