package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Warnings tells what in a pod's spec or template is accepted but unwise.
func Warnings(s *corev1.PodSpec, _ *metav1.ObjectMeta, p *field.Path) []string {
	var out []string
	spec := p.Child("spec")
	if s.HostNetwork && s.TerminationGracePeriodSeconds != nil && *s.TerminationGracePeriodSeconds < 0 {
		out = append(out, fmt.Sprintf("%s: must be >= 0; negative values are invalid and will be treated as 1", spec.Child("terminationGracePeriodSeconds")))
	}
	for i, v := range s.Volumes {
		out = append(out, volumeWarnings(&v, spec.Child("volumes").Index(i))...)
	}
	for i := range s.Containers {
		out = append(out, containerWarnings(&s.Containers[i], spec.Child("containers").Index(i))...)
	}
	for i := range s.InitContainers {
		out = append(out, containerWarnings(&s.InitContainers[i], spec.Child("initContainers").Index(i))...)
	}
	return append(out, duplicatePortWarnings(s, spec)...)
}

func volumeWarnings(v *corev1.Volume, p *field.Path) []string {
	if v.GitRepo != nil {
		return []string{fmt.Sprintf("%s: deprecated in v1.11, and disabled by default in v1.33+", p.Child("gitRepo"))}
	}
	return nil
}

func containerWarnings(c *corev1.Container, p *field.Path) []string {
	var out []string
	seen := map[string]bool{}
	for i, e := range c.Env {
		if seen[e.Name] {
			out = append(out, fmt.Sprintf("%s: hides previous definition of %q, which may be unexpected", p.Child("env").Index(i), e.Name))
		}
		seen[e.Name] = true
	}
	return out
}

// duplicatePortWarnings: two entries of one port and protocol make trouble for server-side apply.
func duplicatePortWarnings(s *corev1.PodSpec, spec *field.Path) []string {
	var out []string
	type key struct {
		port     int32
		protocol corev1.Protocol
		hostPort int32
		hostIP   string
	}
	seen := map[key]*field.Path{}
	for i, c := range s.Containers {
		for j, port := range c.Ports {
			p := spec.Child("containers").Index(i).Child("ports").Index(j)
			k := key{port.ContainerPort, port.Protocol, port.HostPort, port.HostIP}
			if first := seen[k]; first != nil {
				out = append(out, fmt.Sprintf("%s: duplicate port definition with %s", p, first))
				continue
			}
			seen[k] = p
		}
	}
	return out
}
