package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// supported makes the error for a value outside a set.
func supported[T ~string](path *field.Path, v T, all ...T) field.ErrorList {
	if slices.Contains(all, v) {
		return nil
	}
	if v == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return field.ErrorList{field.NotSupported(path, v, all)}
}

func invalid(path *field.Path, value any, texts []string) field.ErrorList {
	var errs field.ErrorList
	for _, t := range texts {
		errs = append(errs, field.Invalid(path, value, t))
	}
	return errs
}

func notNegative(path *field.Path, n int64) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(n, path)
}

// Validate judges the spec of a pod in a template, at a path.
func Validate(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	return append(validate(s, nil, path), validateHostNetwork(s, false, path)...)
}

// ValidatePod judges the spec of a pod itself, which is held to more than a template's.
func ValidatePod(s *corev1.PodSpec, meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	errs := append(validate(s, meta, path), validateHostNetwork(s, true, path)...)
	if s.ServiceAccountName == "" {
		for i, v := range s.Volumes {
			if v.Projected == nil {
				continue
			}
			for j, from := range v.Projected.Sources {
				if from.ServiceAccountToken != nil {
					errs = append(errs, field.Forbidden(path.Child("volumes").Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"), "must not be specified when serviceAccountName is not set"))
				}
			}
		}
	}
	if t := s.TerminationGracePeriodSeconds; t != nil {
		errs = append(errs, notNegative(path.Child("terminationGracePeriodSeconds"), *t)...)
	}
	for i := range s.Containers {
		errs = append(errs, trimmedImage(&s.Containers[i], path.Child("containers").Index(i))...)
	}
	for i := range s.InitContainers {
		errs = append(errs, trimmedImage(&s.InitContainers[i], path.Child("initContainers").Index(i))...)
	}
	return errs
}

// validate judges what pods and templates have in common, in upstream's order.
func validate(s *corev1.PodSpec, meta *metav1.ObjectMeta, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.TerminationGracePeriodSeconds == nil {
		errs = append(errs, field.Required(path.Child("terminationGracePeriodSeconds"), ""))
	}
	name := ""
	if meta != nil {
		name = meta.Name
	}
	volumes, found := validateVolumes(s.Volumes, name, path.Child("volumes"))
	errs = append(errs, found...)
	errs = append(errs, validateClaims(meta, s.ResourceClaims, path.Child("resourceClaims"))...)
	names, in := sets.Set[string]{}, surround(s, volumes)
	errs = append(errs, validateContainers(s, in, names, path)...)
	errs = append(errs, validateInitContainers(s, in, names, path.Child("initContainers"))...)
	errs = append(errs, validateEphemeral(s, in, names, path.Child("ephemeralContainers"))...)
	errs = append(errs, validatePodResources(s, in.claims, path.Child("resources"))...)
	errs = append(errs, supported(path.Child("restartPolicy"), s.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, supported(path.Child("dnsPolicy"), s.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	errs = append(errs, unversioned.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
	errs = append(errs, validatePodSecurity(s, path.Child("securityContext"))...)
	errs = append(errs, validateHost(s, path)...)
	errs = append(errs, validateAffinity(s.Affinity, path.Child("affinity"))...)
	errs = append(errs, validateDNS(s, path.Child("dnsConfig"))...)
	errs = append(errs, validateGates(s, path)...)
	errs = append(errs, validateSpread(s.TopologySpreadConstraints, path.Child("topologySpreadConstraints"))...)
	errs = append(errs, validateHostProcess(s, path)...)
	errs = append(errs, validateHostUsers(s, path)...)
	errs = append(errs, validateHostname(s, path)...)
	errs = append(errs, validateNames(s, path)...)
	errs = append(errs, ValidateTolerations(s.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, validateHostAliases(s.HostAliases, path.Child("hostAliases"))...)
	errs = append(errs, validateTimes(s, path)...)
	errs = append(errs, amongPtr(path.Child("preemptionPolicy"), s.PreemptionPolicy, corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	errs = append(errs, validateRequirements(&corev1.ResourceRequirements{Limits: s.Overhead}, ValidateContainerResource, path.Child("overhead"))...)
	errs = append(errs, validateOS(s, path)...)
	return append(errs, validateFileKeyVolumes(s, path)...)
}

// validateTimes judges the seconds in a spec.
func validateTimes(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	const maxSeconds = 1<<31 - 1
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > maxSeconds) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *d, validation.InclusiveRangeError(1, maxSeconds)))
	}
	return errs
}

// validateNames judges the names of other objects in a spec.
func validateNames(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	subdomains := []struct{ field, value string }{
		{"serviceAccountName", s.ServiceAccountName}, {"nodeName", s.NodeName}, {"priorityClassName", s.PriorityClassName},
	}
	for _, n := range subdomains {
		if n.value != "" {
			errs = append(errs, invalid(path.Child(n.field), n.value, apivalidation.NameIsDNSSubdomain(n.value, false))...)
		}
	}
	if n := s.RuntimeClassName; n != nil {
		errs = append(errs, invalid(path.Child("runtimeClassName"), *n, apivalidation.NameIsDNSSubdomain(*n, false))...)
	}
	if s.Hostname != "" {
		errs = append(errs, invalid(path.Child("hostname"), s.Hostname, validation.IsDNS1123Label(s.Hostname))...)
	}
	if s.Subdomain != "" {
		errs = append(errs, invalid(path.Child("subdomain"), s.Subdomain, validation.IsDNS1123Label(s.Subdomain))...)
	}
	return errs
}

func validateDNS(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	switch c := s.DNSConfig; {
	case s.DNSPolicy == corev1.DNSNone && c == nil:
		return field.ErrorList{field.Required(p, fmt.Sprintf("must provide `dnsConfig` when `dnsPolicy` is %s", corev1.DNSNone))}
	case s.DNSPolicy == corev1.DNSNone && len(c.Nameservers) == 0:
		return field.ErrorList{field.Required(p.Child("nameservers"), fmt.Sprintf("must provide at least one DNS nameserver when `dnsPolicy` is %s", corev1.DNSNone))}
	case c == nil:
		return nil
	}
	var errs field.ErrorList
	const maxNameservers, maxSearches, maxSearchLength = 3, 32, 2048
	if n := len(s.DNSConfig.Nameservers); n > maxNameservers {
		errs = append(errs, field.Invalid(p.Child("nameservers"), s.DNSConfig.Nameservers, fmt.Sprintf("must not have more than %v nameservers", maxNameservers)))
	}
	for i, ns := range s.DNSConfig.Nameservers {
		errs = append(errs, validation.IsValidIP(p.Child("nameservers").Index(i), ns)...)
	}
	if n := len(s.DNSConfig.Searches); n > maxSearches {
		errs = append(errs, field.Invalid(p.Child("searches"), s.DNSConfig.Searches, fmt.Sprintf("must not have more than %v search paths", maxSearches)))
	}
	if len(strings.Join(s.DNSConfig.Searches, " ")) > maxSearchLength {
		errs = append(errs, field.Invalid(p.Child("searches"), s.DNSConfig.Searches, fmt.Sprintf("must not have more than %v characters (including spaces) in the search list", maxSearchLength)))
	}
	for i, domain := range s.DNSConfig.Searches {
		if domain != "." {
			domain = strings.TrimSuffix(domain, ".")
			errs = append(errs, invalid(p.Child("searches").Index(i), domain, validation.IsDNS1123SubdomainWithUnderscore(domain))...)
		}
	}
	for i, o := range s.DNSConfig.Options {
		if o.Name == "" {
			errs = append(errs, field.Required(p.Child("options").Index(i), "must not be empty"))
		}
	}
	return errs
}

// validateHost judges what the pod shares with its host.
func validateHost(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.ShareProcessNamespace != nil && *s.ShareProcessNamespace && s.HostPID {
		errs = append(errs, field.Invalid(path.Child("shareProcessNamespace"), *s.ShareProcessNamespace, "ShareProcessNamespace and HostPID cannot both be enabled"))
	}
	return errs
}

// validateHostNetwork: on the host's network a container's port is the host's. A template may leave it out.
func validateHostNetwork(s *corev1.PodSpec, pod bool, path *field.Path) field.ErrorList {
	if !s.HostNetwork {
		return nil
	}
	var errs field.ErrorList
	for i, c := range s.Containers {
		for j, port := range c.Ports {
			if (pod || port.HostPort != 0) && port.HostPort != port.ContainerPort {
				errs = append(errs, field.Invalid(path.Child("containers").Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort, "must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}

// validateHostUsers: a pod with users of its own shares no other namespace with its host.
func validateHostUsers(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	if s.HostUsers == nil || *s.HostUsers {
		return nil
	}
	const text = "when `hostUsers` is false"
	var errs field.ErrorList
	for _, x := range []struct {
		name string
		set  bool
	}{{"hostNetwork", s.HostNetwork}, {"HostPID", s.HostPID}, {"HostIPC", s.HostIPC}} {
		if x.set {
			errs = append(errs, field.Forbidden(path.Child(x.name), text))
		}
	}
	visit(s, path, func(c *corev1.Container, at *field.Path) {
		if len(c.VolumeDevices) > 0 {
			errs = append(errs, field.Forbidden(at.Child("volumeDevices"), text))
		}
	})
	return errs
}

// validateHostname judges a name that stands for all others.
func validateHostname(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	n := s.HostnameOverride
	if n == nil {
		return nil
	}
	// Linux' own limit of a host's name.
	const longest = 64
	p := path.Child("hostnameOverride")
	var errs field.ErrorList
	if s.SetHostnameAsFQDN != nil && *s.SetHostnameAsFQDN {
		errs = append(errs, field.Forbidden(p, "may not be specified when setHostnameAsFQDN is true"))
	}
	if s.HostNetwork {
		errs = append(errs, field.Forbidden(p, "may not be specified when hostNetwork is true"))
	}
	if len(*n) > longest {
		errs = append(errs, field.TooLong(p, "", longest))
	}
	return append(errs, invalid(p, *n, validation.IsDNS1123Subdomain(*n))...)
}

func validateHostAliases(as []corev1.HostAlias, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, a := range as {
		errs = append(errs, validation.IsValidIP(path.Index(i).Child("ip"), a.IP)...)
		for j, h := range a.Hostnames {
			errs = append(errs, invalid(path.Index(i).Child("hostnames").Index(j), h, validation.IsDNS1123Subdomain(h))...)
		}
	}
	return errs
}

// ValidateTolerations judges tolerations.
func ValidateTolerations(ts []corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range ts {
		p := path.Index(i)
		if t.Key != "" {
			errs = append(errs, unversioned.ValidateLabelName(t.Key, p.Child("key"))...)
		}
		if t.Key == "" && t.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(p.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(p.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			errs = append(errs, invalid(p.Child("operator"), t.Value, validation.IsValidLabelValue(t.Value))...)
		case corev1.TolerationOpExists:
			if t.Value != "" {
				errs = append(errs, field.Invalid(p.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
			}
		default:
			errs = append(errs, field.NotSupported(p.Child("operator"), t.Operator, []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		if t.Effect != "" {
			errs = append(errs, validateTaintEffect(t.Effect, p.Child("effect"))...)
		}
	}
	return errs
}

func validateTaintEffect(e corev1.TaintEffect, path *field.Path) field.ErrorList {
	all := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if slices.Contains(all, e) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, e, all)}
}

// ValidateTemplate judges a template whose pods a selector must select; allowed are the restart policies of the kind.
func ValidateTemplate(t *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := unversioned.ValidateLabels(t.Labels, path.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, path.Child("annotations"))...)
	errs = append(errs, Validate(&t.Spec, path.Child("spec"))...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(path.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}
