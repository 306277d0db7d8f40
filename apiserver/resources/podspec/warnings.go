package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Warnings tells what in a pod's spec or template is accepted but unwise.
func Warnings(s *corev1.PodSpec, _ *metav1.ObjectMeta, p *field.Path) []string {
	var out []string
	spec := p.Child("spec")
	for i, c := range s.TopologySpreadConstraints {
		if c.LabelSelector == nil {
			out = append(out, fmt.Sprintf("%s: a null labelSelector results in matching no pod", spec.Child("topologySpreadConstraints").Index(i).Child("labelSelector")))
		}
	}
	for i, v := range s.Volumes {
		out = append(out, volumeWarnings(&v, spec.Child("volumes").Index(i))...)
	}
	out = append(out, repeatWarnings(s, spec)...)
	out = append(out, fractionWarnings(s.Overhead, spec.Child("overhead"))...)
	visit(s, spec, func(c *corev1.Container, at *field.Path) {
		out = append(out, fractionWarnings(c.Resources.Limits, at.Child("resources", "limits"), corev1.ResourceMemory)...)
		out = append(out, fractionWarnings(c.Resources.Requests, at.Child("resources", "requests"), corev1.ResourceMemory)...)
		out = append(out, fractionWarnings(c.Resources.Limits, at.Child("resources", "limits"), corev1.ResourceEphemeralStorage)...)
		out = append(out, fractionWarnings(c.Resources.Requests, at.Child("resources", "requests"), corev1.ResourceEphemeralStorage)...)
		out = append(out, envWarnings(c.Env, at.Child("env"))...)
	})
	out = append(out, portWarnings(s, spec)...)
	out = append(out, portNameWarnings(s, spec)...)
	if t := s.TerminationGracePeriodSeconds; t != nil && *t < 0 {
		out = append(out, fmt.Sprintf("%s: must be >= 0; negative values are invalid and will be treated as 1", spec.Child("terminationGracePeriodSeconds")))
	}
	return out
}

// volumeWarnings names drivers that are gone, or will be.
func volumeWarnings(v *corev1.Volume, p *field.Path) []string {
	var out []string
	for _, x := range []struct {
		name string
		set  bool
		text string
	}{
		{"photonPersistentDisk", v.PhotonPersistentDisk != nil, "deprecated in v1.11, non-functional in v1.16+"},
		{"gitRepo", v.GitRepo != nil, "deprecated in v1.11, and disabled by default in v1.33+"},
		{"scaleIO", v.ScaleIO != nil, "deprecated in v1.16, non-functional in v1.22+"},
		{"flocker", v.Flocker != nil, "deprecated in v1.22, non-functional in v1.25+"},
		{"storageOS", v.StorageOS != nil, "deprecated in v1.22, non-functional in v1.25+"},
		{"quobyte", v.Quobyte != nil, "deprecated in v1.22, non-functional in v1.25+"},
		{"glusterfs", v.Glusterfs != nil, "deprecated in v1.25, non-functional in v1.26+"},
		{"cephfs", v.CephFS != nil, "deprecated in v1.28, non-functional in v1.31+"},
		{"rbd", v.RBD != nil, "deprecated in v1.28, non-functional in v1.31+"},
	} {
		if x.set {
			out = append(out, fmt.Sprintf("%s: %s", p.Child(x.name), x.text))
		}
	}
	return out
}

// repeatWarnings finds entries of lists that say the same twice.
func repeatWarnings(s *corev1.PodSpec, spec *field.Path) []string {
	var out []string
	ips, names := sets.Set[string]{}, sets.Set[string]{}
	for i, a := range s.HostAliases {
		if ips.Has(a.IP) {
			out = append(out, fmt.Sprintf("%s: duplicate ip %q", spec.Child("hostAliases").Index(i).Child("ip"), a.IP))
		}
		ips.Insert(a.IP)
	}
	at := spec.Child("imagePullSecrets")
	for i, r := range s.ImagePullSecrets {
		if names.Has(r.Name) {
			out = append(out, fmt.Sprintf("%s: duplicate name %q", at.Index(i).Child("name"), r.Name))
		}
		names.Insert(r.Name)
	}
	for i, r := range s.ImagePullSecrets {
		if r.Name == "" {
			out = append(out, fmt.Sprintf("%s: invalid empty name %q", at.Index(i).Child("name"), r.Name))
		}
	}
	return out
}

// fractionWarnings: there is no part of a byte.
func fractionWarnings(l corev1.ResourceList, p *field.Path, names ...corev1.ResourceName) []string {
	if len(names) == 0 {
		names = []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	}
	var out []string
	for _, n := range names {
		if q, ok := l[n]; ok && q.MilliValue()%1000 != 0 {
			out = append(out, fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", p.Key(string(n)), q.String()))
		}
	}
	return out
}

// envWarnings: a second variable of a name makes sense only if it builds on the first.
func envWarnings(vars []corev1.EnvVar, p *field.Path) []string {
	var out []string
	seen := sets.Set[string]{}
	for i, e := range vars {
		ref := "$(" + e.Name + ")"
		if seen.Has(e.Name) && (e.ValueFrom != nil || e.Value == ref || !strings.Contains(e.Value, ref)) {
			out = append(out, fmt.Sprintf("%s: hides previous definition of %q, which may be dropped when using apply", p.Index(i), e.Name))
		}
		seen.Insert(e.Name)
	}
	return out
}

// portWarnings: two entries of one port and protocol make trouble for server-side apply.
func portWarnings(s *corev1.PodSpec, spec *field.Path) []string {
	var out []string
	type entry struct {
		at   *field.Path
		port corev1.ContainerPort
	}
	seen := map[string][]entry{}
	visit(s, spec, func(c *corev1.Container, p *field.Path) {
		for i, port := range c.Ports {
			at := p.Child("ports").Index(i)
			key := fmt.Sprintf("%d/%s", port.ContainerPort, port.Protocol)
			for _, o := range seen[key] {
				if how := collision(&port, &o.port); how != "" {
					out = append(out, fmt.Sprintf("%s: %s port definition with %s", at, how, o.at))
				}
			}
			seen[key] = append(seen[key], entry{at, port})
		}
	})
	return out
}

func collision(a, b *corev1.ContainerPort) string {
	switch {
	case a.HostIP == b.HostIP && a.HostPort == b.HostPort:
		return "duplicate"
	case a.HostPort == 0 || b.HostPort == 0:
		return "overlapping"
	case a.HostPort == b.HostPort && (a.HostIP == "") != (b.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}

func portNameWarnings(s *corev1.PodSpec, spec *field.Path) []string {
	var out []string
	seen := map[string]*field.Path{}
	visit(s, spec, func(c *corev1.Container, p *field.Path) {
		for i, port := range c.Ports {
			at := p.Child("ports").Index(i)
			switch first := seen[port.Name]; {
			case port.Name == "":
			case first != nil:
				out = append(out, fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", at, port.Name, first, first))
			default:
				seen[port.Name] = at
			}
		}
	})
	return out
}
