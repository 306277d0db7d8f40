package podspec

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func requirements(requests, limits string) v1.ResourceRequirements {
	list := func(text string) v1.ResourceList {
		if text == "" {
			return nil
		}
		return v1.ResourceList{v1.ResourceCPU: resource.MustParse(text), v1.ResourceMemory: resource.MustParse(text)}
	}
	return v1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}
}

func TestQOS(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		containers []v1.ResourceRequirements
		want       v1.PodQOSClass
	}{
		{"nothing", []v1.ResourceRequirements{{}}, v1.PodQOSBestEffort},
		{"equal", []v1.ResourceRequirements{requirements("1", "1")}, v1.PodQOSGuaranteed},
		{"limits alone are requests too", []v1.ResourceRequirements{requirements("", "1")}, v1.PodQOSGuaranteed},
		{"more than requested", []v1.ResourceRequirements{requirements("1", "2")}, v1.PodQOSBurstable},
		{"no limit", []v1.ResourceRequirements{requirements("1", "")}, v1.PodQOSBurstable},
		{"one of two", []v1.ResourceRequirements{requirements("1", "1"), {}}, v1.PodQOSBurstable},
	} {
		pod := &v1.Pod{}
		for _, r := range test.containers {
			pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Resources: r})
		}
		if got := QOS(pod); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestShouldRestart(t *testing.T) {
	t.Parallel()
	onFailure := v1.ContainerRestartPolicyOnFailure
	rule := v1.ContainerRestartRule{Action: v1.ContainerRestartRuleActionRestart, ExitCodes: &v1.ContainerRestartRuleOnExitCodes{Operator: v1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}}}
	for _, test := range []struct {
		name      string
		policy    v1.RestartPolicy
		container v1.Container
		code      int32
		want      bool
	}{
		{"always", v1.RestartPolicyAlways, v1.Container{}, 0, true},
		{"on failure, success", v1.RestartPolicyOnFailure, v1.Container{}, 0, false},
		{"on failure, failure", v1.RestartPolicyOnFailure, v1.Container{}, 1, true},
		{"never", v1.RestartPolicyNever, v1.Container{}, 1, false},
		{"the container's own policy", v1.RestartPolicyNever, v1.Container{RestartPolicy: &onFailure}, 1, true},
		{"the container's rule", v1.RestartPolicyNever, v1.Container{RestartPolicyRules: []v1.ContainerRestartRule{rule}}, 42, true},
		{"another code", v1.RestartPolicyNever, v1.Container{RestartPolicyRules: []v1.ContainerRestartRule{rule}}, 41, false},
	} {
		pod := &v1.Pod{Spec: v1.PodSpec{RestartPolicy: test.policy}}
		if got := ShouldRestart(pod, &test.container, test.code); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
