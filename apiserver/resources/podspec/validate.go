package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
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

// Validate judges a pod's spec at a path.
func Validate(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	volumes, errs := validateVolumes(s.Volumes, path.Child("volumes"))
	names := sets.Set[string]{}
	errs = append(errs, validateContainers(s, volumes, names, path)...)
	errs = append(errs, validateInitContainers(s, volumes, names, path.Child("initContainers"))...)
	errs = append(errs, validateEphemeral(s, volumes, names, path.Child("ephemeralContainers"))...)
	errs = append(errs, supported(path.Child("restartPolicy"), s.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, validateDNS(s, path)...)
	errs = append(errs, unversioned.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
	errs = append(errs, validateHost(s, path)...)
	errs = append(errs, validateSysctls(s, path.Child("securityContext", "sysctls"))...)
	for i, ref := range s.ImagePullSecrets {
		if ref.Name == "" {
			errs = append(errs, field.Required(path.Child("imagePullSecrets").Index(i).Child("name"), ""))
		}
	}
	errs = append(errs, validateAffinity(s.Affinity, path.Child("affinity"))...)
	errs = append(errs, ValidateTolerations(s.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, validateHostAliases(s.HostAliases, path.Child("hostAliases"))...)
	errs = append(errs, validateNames(s, path)...)
	return append(errs, validateTimes(s, path)...)
}

// validateTimes judges the seconds in a spec.
func validateTimes(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.TerminationGracePeriodSeconds != nil {
		errs = append(errs, notNegative(path.Child("terminationGracePeriodSeconds"), *s.TerminationGracePeriodSeconds)...)
	}
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

func validateDNS(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	errs := supported(path.Child("dnsPolicy"), s.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)
	if s.DNSPolicy == corev1.DNSNone && (s.DNSConfig == nil || len(s.DNSConfig.Nameservers) == 0) {
		errs = append(errs, field.Required(path.Child("dnsConfig"), fmt.Sprintf("must provide `dnsConfig` when `dnsPolicy` is %s", corev1.DNSNone)))
	}
	if s.DNSConfig == nil {
		return errs
	}
	p := path.Child("dnsConfig")
	const maxNameservers, maxSearches = 3, 32
	if n := len(s.DNSConfig.Nameservers); n > maxNameservers {
		errs = append(errs, field.Invalid(p.Child("nameservers"), s.DNSConfig.Nameservers, fmt.Sprintf("must not have more than %v nameservers", maxNameservers)))
	}
	for i, ns := range s.DNSConfig.Nameservers {
		errs = append(errs, validation.IsValidIP(p.Child("nameservers").Index(i), ns)...)
	}
	if n := len(s.DNSConfig.Searches); n > maxSearches {
		errs = append(errs, field.Invalid(p.Child("searches"), s.DNSConfig.Searches, fmt.Sprintf("must not have more than %v search paths", maxSearches)))
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
	if s.HostNetwork {
		for i, c := range s.Containers {
			for j, p := range c.Ports {
				if p.HostPort != p.ContainerPort {
					errs = append(errs, field.Invalid(path.Child("containers").Index(i).Child("ports").Index(j).Child("containerPort"), p.ContainerPort, "must match `hostPort` when `hostNetwork` is true"))
				}
			}
		}
	}
	return errs
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
