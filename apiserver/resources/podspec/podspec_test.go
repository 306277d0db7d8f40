package podspec

import (
	"slices"
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
		{func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts[0].SubPath = "../x" }, `spec.containers[0].volumeMounts.subPath: Invalid value: "../x": must not contain '..'`},
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
		{func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "a"}}
		}, "spec.resourceClaims[0]: Invalid value: {\"Name\":\"a\",\"ResourceClaimName\":null,\"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"},
		{func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Limits = list("hugepages-2Mi", "4Mi")
			s.Containers[0].Resources.Requests = list("hugepages-2Mi", "4Mi")
		}, "spec.containers[0].resources: Forbidden: HugePages require cpu or memory"},
		{func(s *corev1.PodSpec) { s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}, {Name: "a"}} }, `spec.schedulingGates[1]: Duplicate value: "a"`},
		{func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: "plan9"} }, `spec.os: Unsupported value: "plan9": supported values: "linux", "windows"`},
		{func(s *corev1.PodSpec) { s.OS = &corev1.PodOS{Name: "windows"}; s.HostPID = true }, "spec.hostPID: Forbidden: cannot be set for a windows pod"},
		{func(s *corev1.PodSpec) {
			s.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 31}}}
		}, "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)"},
		{func(s *corev1.PodSpec) {
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "e", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
		}, "spec.volumes[1].ephemeral.volumeClaimTemplate: Required value"},
		{func(s *corev1.PodSpec) {
			s.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "d", DevicePath: "/d"}}
		}, `spec.containers[0].volumeDevices[0].name: Not found: "d"`},
		{func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "1"), Limits: list("cpu", "500m")}
		}, `spec.resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 500m`},
	} {
		s := valid()
		c.change(s)
		errs := Validate(s, field.NewPath("spec"))
		if len(errs) != 1 || errs[0].Error() != c.want {
			t.Errorf("got  %v\nwant %s", errs, c.want)
		}
	}
}

// TestPodResources: a pod as a whole gets what its containers sum up to.
func TestPodResources(t *testing.T) {
	t.Parallel()
	s := valid()
	s.Resources = &corev1.ResourceRequirements{Limits: list("cpu", "1", "memory", "1Gi")}
	DefaultPodResources(s)
	if got := s.Resources.Requests; !got.Cpu().Equal(resource.MustParse("1")) || !got.Memory().Equal(resource.MustParse("1Gi")) {
		t.Errorf("requests %v", got)
	}
	if got := QOS(s); got != corev1.PodQOSGuaranteed {
		t.Errorf("class %s", got)
	}
	s.Containers[0].Resources.Requests = list("memory", "2Gi")
	want := `spec.resources.requests[memory]: Invalid value: "1Gi": must be greater than or equal to aggregate container requests of 2Gi`
	if errs := Validate(s, field.NewPath("spec")); len(errs) != 1 || errs[0].Error() != want {
		t.Errorf("got %v, want %s", errs, want)
	}
}

// TestWarnings: what is accepted and unwise.
func TestWarnings(t *testing.T) {
	t.Parallel()
	s := valid()
	c := &s.Containers[0]
	c.Env = []corev1.EnvVar{{Name: "A"}, {Name: "A", Value: "x$(A)"}, {Name: "A"}}
	c.Resources.Limits = list("memory", "100m")
	c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 80, Protocol: "TCP"})
	want := []string{
		`spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer`,
		`spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply`,
		"spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
	}
	if got := Warnings(s, nil, nil); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
