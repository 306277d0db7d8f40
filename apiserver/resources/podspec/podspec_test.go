package podspec

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func TestQOS(t *testing.T) {
	t.Parallel()
	c := func(requests, limits corev1.ResourceList) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}
	}
	full := list("cpu", "1", "memory", "1Gi")
	for _, x := range []struct {
		name string
		cs   []corev1.Container
		want corev1.PodQOSClass
	}{
		{"nothing", []corev1.Container{c(nil, nil)}, corev1.PodQOSBestEffort},
		{"a device alone", []corev1.Container{c(list("a/b", "1"), list("a/b", "1"))}, corev1.PodQOSBestEffort},
		{"all limited", []corev1.Container{c(full, full)}, corev1.PodQOSGuaranteed},
		{"one of two limited", []corev1.Container{c(full, full), c(nil, nil)}, corev1.PodQOSBurstable},
		{"cpu alone", []corev1.Container{c(list("cpu", "1"), list("cpu", "1"))}, corev1.PodQOSBurstable},
		{"less requested", []corev1.Container{c(list("cpu", "500m", "memory", "1Gi"), full)}, corev1.PodQOSBurstable},
	} {
		if got := QOS(&corev1.PodSpec{Containers: x.cs}); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
}

func TestPullPolicy(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]corev1.PullPolicy{
		"nginx": corev1.PullAlways, "nginx:latest": corev1.PullAlways, "nginx:1": corev1.PullIfNotPresent,
		"host:5000/nginx": corev1.PullAlways, "host:5000/nginx:1": corev1.PullIfNotPresent, "nginx@sha256:aa": corev1.PullIfNotPresent,
	} {
		if got := pullPolicy(image); got != want {
			t.Errorf("%s: %s", image, got)
		}
	}
}

// valid is a pod that nothing is wrong with.
func valid() *corev1.PodSpec {
	s := &corev1.PodSpec{
		Volumes:    []corev1.Volume{{Name: "v"}},
		Containers: []corev1.Container{{Name: "c", Image: "i", Ports: []corev1.ContainerPort{{ContainerPort: 80}}, VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}}},
	}
	Default(s)
	DefaultPod(s)
	return s
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if errs := Validate(valid(), field.NewPath("spec")); len(errs) > 0 {
		t.Fatalf("a valid pod: %v", errs)
	}
	for _, c := range []struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		{func(s *corev1.PodSpec) { s.Containers = nil }, "spec.containers: Required value"},
		{func(s *corev1.PodSpec) { s.Containers[0].Name = "" }, "spec.containers[0].name: Required value"},
		{func(s *corev1.PodSpec) { s.Containers[0].Image = "" }, "spec.containers[0].image: Required value"},
		{func(s *corev1.PodSpec) { s.Containers[0].Ports[0].ContainerPort = 70000 }, "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"},
		{func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts[0].Name = "x" }, `spec.containers[0].volumeMounts[0].name: Not found: "x"`},
		{func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts[0].SubPath = "../x" }, `spec.containers[0].volumeMounts[0].subPath: Invalid value: "../x": must not contain '..'`},
		{func(s *corev1.PodSpec) { s.Containers = append(s.Containers, s.Containers[0]) }, `spec.containers[1].name: Duplicate value: "c"`},
		{func(s *corev1.PodSpec) { s.Volumes = append(s.Volumes, s.Volumes[0]) }, `spec.volumes[1].name: Duplicate value: "v"`},
		{func(s *corev1.PodSpec) { s.RestartPolicy = "Sometimes" }, `spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`},
		{func(s *corev1.PodSpec) {
			s.Containers[0].Resources = corev1.ResourceRequirements{Requests: list("cpu", "2"), Limits: list("cpu", "1")}
		}, `spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`},
		{func(s *corev1.PodSpec) {
			s.Containers[0].LivenessProbe = &corev1.Probe{SuccessThreshold: 2, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}}
		}, "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1"},
		{func(s *corev1.PodSpec) {
			s.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "x", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}}
		},
			`spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when ` + "`value` is not empty"},
		{func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{{Operator: "Equal", Value: "x"}} }, `spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when ` + "`key` is empty, which means \"match all values and all keys\""},
	} {
		s := valid()
		c.change(s)
		errs := Validate(s, field.NewPath("spec"))
		if len(errs) != 1 || errs[0].Error() != c.want {
			t.Errorf("got  %v\nwant %s", errs, c.want)
		}
	}
}
