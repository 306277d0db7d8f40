package podspec

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Bounds of what Windows takes, in bytes.
const (
	longestCredentialKiB = 64
	longestDomain        = 256
	longestUser          = 104
)

var (
	control   = regexp.MustCompile(`[[:cntrl:]]+`)
	netBIOS   = regexp.MustCompile(`^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$`)
	dnsLabel  = `[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`
	dnsDomain = regexp.MustCompile(`^` + dnsLabel + `(?:\.` + dnsLabel + `)*$`)
	badUser   = regexp.MustCompile(`["/\\:;|=,\+\*\?<>@\[\]]`)
	dotsOnly  = regexp.MustCompile(`^[\. ]+$`)
)

func validateWindowsOptions(o *corev1.WindowsSecurityContextOptions, p *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	var errs field.ErrorList
	if n := o.GMSACredentialSpecName; n != nil {
		errs = append(errs, invalid(p.Child("gmsaCredentialSpecName"), *n, validation.IsDNS1123Subdomain(*n))...)
	}
	if c := o.GMSACredentialSpec; c != nil {
		at := p.Child("gmsaCredentialSpec")
		switch {
		case *c == "":
			errs = append(errs, field.Invalid(at, *c, "gmsaCredentialSpec cannot be an empty string"))
		case len(*c) > longestCredentialKiB*1024:
			errs = append(errs, field.Invalid(at, *c, fmt.Sprintf("gmsaCredentialSpec size must be under %d KiB", longestCredentialKiB)))
		}
	}
	if n := o.RunAsUserName; n != nil {
		errs = append(errs, invalid(p.Child("runAsUserName"), *n, userFaults(*n))...)
	}
	return errs
}

// userFaults tells what is wrong with the name of a Windows user, with its domain or without.
func userFaults(name string) []string {
	const who = "runAsUserName"
	parts := strings.Split(name, `\`)
	switch {
	case name == "":
		return []string{who + " cannot be an empty string"}
	case control.MatchString(name):
		return []string{who + " cannot contain control characters"}
	case len(parts) > 2:
		return []string{who + " cannot contain more than one backslash"}
	}
	var out []string
	user := parts[len(parts)-1]
	if len(parts) == 2 {
		if len(parts[0]) >= longestDomain {
			out = append(out, fmt.Sprintf("%s's Domain length must be under %d characters", who, longestDomain))
		}
		if !netBIOS.MatchString(parts[0]) && !dnsDomain.MatchString(parts[0]) {
			out = append(out, who+"'s Domain doesn't match the NetBios nor the DNS format")
		}
	}
	switch {
	case user == "":
		out = append(out, who+"'s User cannot be empty")
	case len(user) > longestUser:
		out = append(out, fmt.Sprintf("%s's User length must not be longer than %d characters", who, longestUser))
	}
	if dotsOnly.MatchString(user) {
		out = append(out, who+"'s User cannot contain only periods or spaces")
	}
	if badUser.MatchString(user) {
		out = append(out, who+`'s User cannot contain the following characters: "/\:;|=,+*?<>@[]`)
	}
	return out
}

// validateHostProcess: either all containers of a pod are processes of a Windows host, or none.
func validateHostProcess(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	ofPod := s.SecurityContext != nil && s.SecurityContext.WindowsOptions != nil && s.SecurityContext.WindowsOptions.HostProcess != nil
	common := ofPod && *s.SecurityContext.WindowsOptions.HostProcess
	all, host := 0, 0
	visit(s, p, func(c *corev1.Container, at *field.Path) {
		all++
		own := common
		if x := c.SecurityContext; x != nil && x.WindowsOptions != nil && x.WindowsOptions.HostProcess != nil {
			own = *x.WindowsOptions.HostProcess
			if ofPod && own != common {
				errs = append(errs, field.Invalid(at.Child("securityContext", "windowsOptions", "hostProcess"), own, fmt.Sprintf("pod hostProcess value must be identical if both are specified, was %v", common)))
			}
		}
		if own {
			host++
		}
	})
	if host == 0 {
		return errs
	}
	if host != all {
		errs = append(errs, field.Invalid(p, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"))
	}
	if !s.HostNetwork {
		errs = append(errs, field.Invalid(p.Child("hostNetwork"), s.HostNetwork, "hostNetwork must be true if pod contains any hostProcess containers"))
	}
	return errs
}

// validateOS judges the system a pod says it is for, and what does not exist there.
func validateOS(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	if s.OS == nil {
		return nil
	}
	switch s.OS.Name {
	case "":
		return field.ErrorList{field.Required(p.Child("os", "name"), "")}
	case corev1.Linux:
		return validateLinux(s, p)
	case corev1.Windows:
		return validateWindows(s, p)
	}
	return field.ErrorList{field.NotSupported(p.Child("os"), s.OS.Name, []corev1.OSName{corev1.Linux, corev1.Windows})}
}

func validateLinux(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	const text = "windows options cannot be set for a linux pod"
	var errs field.ErrorList
	if s.SecurityContext != nil && s.SecurityContext.WindowsOptions != nil {
		errs = append(errs, field.Forbidden(p.Child("securityContext", "windowsOptions"), text))
	}
	visit(s, p, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
			errs = append(errs, field.Forbidden(at.Child("securityContext", "windowsOptions"), text))
		}
	})
	return errs
}

// linuxOnly are the fields of a pod's and of a container's security context that Windows has not.
var (
	linuxOnlyPod = sets.New("AppArmorProfile", "SELinuxOptions", "SeccompProfile", "FSGroup", "FSGroupChangePolicy", "Sysctls", "RunAsUser", "RunAsGroup",
		"SupplementalGroups", "SupplementalGroupsPolicy", "SELinuxChangePolicy")
	linuxOnlyContainer = sets.New("AppArmorProfile", "SELinuxOptions", "SeccompProfile", "Capabilities", "ReadOnlyRootFilesystem", "Privileged",
		"AllowPrivilegeEscalation", "ProcMount", "RunAsUser", "RunAsGroup")
)

const notOnWindows = "cannot be set for a windows pod"

func validateWindows(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.SecurityContext != nil {
		errs = append(errs, forbidFields(reflect.ValueOf(s.SecurityContext).Elem(), linuxOnlyPod, p.Child("securityContext"))...)
	}
	for _, x := range []struct {
		name string
		set  bool
	}{{"hostUsers", s.HostUsers != nil}, {"hostPID", s.HostPID}, {"hostIPC", s.HostIPC}, {"shareProcessNamespace", s.ShareProcessNamespace != nil}} {
		if x.set {
			errs = append(errs, field.Forbidden(p.Child(x.name), notOnWindows))
		}
	}
	visit(s, p, func(c *corev1.Container, at *field.Path) {
		if c.SecurityContext != nil {
			errs = append(errs, forbidFields(reflect.ValueOf(c.SecurityContext).Elem(), linuxOnlyContainer, at.Child("securityContext"))...)
		}
	})
	return errs
}

func forbidFields(v reflect.Value, names sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if names.Has(f.Name) && !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			errs = append(errs, field.Forbidden(p.Child(name), notOnWindows))
		}
	}
	return errs
}

// visit shows all containers of a pod, of every sort, with their places.
func visit(s *corev1.PodSpec, p *field.Path, see func(*corev1.Container, *field.Path)) {
	for i := range s.InitContainers {
		see(&s.InitContainers[i], p.Child("initContainers").Index(i))
	}
	for i := range s.Containers {
		see(&s.Containers[i], p.Child("containers").Index(i))
	}
	for i := range s.EphemeralContainers {
		c := corev1.Container(s.EphemeralContainers[i].EphemeralContainerCommon)
		see(&c, p.Child("ephemeralContainers").Index(i))
	}
}
