package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/goform"
)

// validateSecurity judges a container's security context.
func validateSecurity(s *corev1.SecurityContext, hostUsers bool, p *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := validateID(s.RunAsUser, p.Child("runAsUser"))
	errs = append(errs, validateID(s.RunAsGroup, p.Child("runAsGroup"))...)
	if m := s.ProcMount; m != nil {
		all := []corev1.ProcMountType{corev1.DefaultProcMount, corev1.UnmaskedProcMount}
		if !slices.Contains(all, *m) {
			errs = append(errs, field.NotSupported(p.Child("procMount"), *m, all))
		}
		if hostUsers && *m == corev1.UnmaskedProcMount {
			errs = append(errs, field.Invalid(p.Child("procMount"), m, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, validateSeccomp(s.SeccompProfile, p.Child("seccompProfile"))...)
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		if s.Privileged != nil && *s.Privileged {
			errs = append(errs, field.Invalid(p, goform.Of(s), "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
		}
		if s.Capabilities != nil && slices.Contains(s.Capabilities.Add, "CAP_SYS_ADMIN") {
			errs = append(errs, field.Invalid(p, goform.Of(s), "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
		}
	}
	errs = append(errs, validateWindowsOptions(s.WindowsOptions, p.Child("windowsOptions"))...)
	return append(errs, validateAppArmor(s.AppArmorProfile, p.Child("appArmorProfile"))...)
}

// validatePodSecurity judges what all containers of a pod have in common.
func validatePodSecurity(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	c := s.SecurityContext
	if c == nil {
		return nil
	}
	errs := validateID(c.FSGroup, p.Child("fsGroup"))
	errs = append(errs, validateID(c.RunAsUser, p.Child("runAsUser"))...)
	errs = append(errs, validateID(c.RunAsGroup, p.Child("runAsGroup"))...)
	for i, g := range c.SupplementalGroups {
		errs = append(errs, validateID(&g, p.Child("supplementalGroups").Index(i))...)
	}
	errs = append(errs, validateSysctls(s, p.Child("sysctls"))...)
	errs = append(errs, amongPtr(p.Child("fsGroupChangePolicy"), c.FSGroupChangePolicy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)...)
	errs = append(errs, validateSeccomp(c.SeccompProfile, p.Child("seccompProfile"))...)
	errs = append(errs, validateWindowsOptions(c.WindowsOptions, p.Child("windowsOptions"))...)
	errs = append(errs, validateAppArmor(c.AppArmorProfile, p.Child("appArmorProfile"))...)
	errs = append(errs, amongPtr(p.Child("supplementalGroupsPolicy"), c.SupplementalGroupsPolicy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	return append(errs, amongPtr(p.Child("seLinuxChangePolicy"), c.SELinuxChangePolicy, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)...)
}

// amongPtr demands a value of a set, if there is one at all.
func amongPtr[T ~string](p *field.Path, v *T, all ...T) field.ErrorList {
	if v == nil || slices.Contains(all, *v) {
		return nil
	}
	return field.ErrorList{field.NotSupported(p, *v, all)}
}

// validateID judges the number of a user or a group.
func validateID(id *int64, p *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return invalid(p, *id, validation.IsValidUserID(*id))
}

func validateSeccomp(s *corev1.SeccompProfile, p *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	all := []corev1.SeccompProfileType{corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined}
	var errs field.ErrorList
	switch {
	case s.Type == "":
		errs = append(errs, field.Required(p.Child("type"), "type is required when seccompProfile is set"))
	case !slices.Contains(all, s.Type):
		errs = append(errs, field.NotSupported(p.Child("type"), s.Type, all))
	}
	at, local := p.Child("localhostProfile"), s.Type == corev1.SeccompProfileTypeLocalhost
	switch {
	case local && s.LocalhostProfile == nil:
		errs = append(errs, field.Required(at, "must be set when seccomp type is Localhost"))
	case local:
		errs = append(errs, localPath(*s.LocalhostProfile, at)...)
	case s.LocalhostProfile != nil:
		errs = append(errs, field.Invalid(at, goform.Of(s), "can only be set when seccomp type is Localhost"))
	}
	return errs
}

func validateAppArmor(a *corev1.AppArmorProfile, p *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	all := []corev1.AppArmorProfileType{corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined}
	at := p.Child("localhostProfile")
	switch {
	case a.Type == "":
		return field.ErrorList{field.Required(p.Child("type"), "type is required when appArmorProfile is set")}
	case !slices.Contains(all, a.Type):
		return field.ErrorList{field.NotSupported(p.Child("type"), a.Type, all)}
	case a.Type != corev1.AppArmorProfileTypeLocalhost:
		if a.LocalhostProfile != nil {
			return field.ErrorList{field.Invalid(at, a.LocalhostProfile, "can only be set when AppArmor type is Localhost")}
		}
		return nil
	case a.LocalhostProfile == nil:
		return field.ErrorList{field.Required(at, "must be set when AppArmor type is Localhost")}
	}
	return validateAppArmorName(*a.LocalhostProfile, at)
}

func validateAppArmorName(name string, at *field.Path) field.ErrorList {
	// The longest path that Linux takes, without its end.
	const longest = 4095
	var errs field.ErrorList
	switch trimmed := strings.TrimSpace(name); {
	case trimmed != name:
		errs = append(errs, field.Invalid(at, name, "must not be padded with whitespace"))
	case trimmed == "":
		errs = append(errs, field.Required(at, "must be set when AppArmor type is Localhost"))
	}
	if len(name) > longest {
		errs = append(errs, field.TooLong(at, "", longest))
	}
	return errs
}
