package podspec

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxSysctl = 253

// sysctlName is a path in /proc/sys, with dots or slashes.
var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

// validateSysctls judges kernel parameters: those of a namespace that the pod shares with its host are the host's.
func validateSysctls(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	if s.SecurityContext == nil {
		return nil
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, sysctl := range s.SecurityContext.Sysctls {
		p := path.Index(i).Child("name")
		switch name := sysctl.Name; {
		case name == "":
			errs = append(errs, field.Required(p, ""))
		case len(name) > maxSysctl || !sysctlName.MatchString(name):
			errs = append(errs, field.Invalid(p, name, fmt.Sprintf("must have at most %d characters and match regex %s", maxSysctl, sysctlName)))
		case seen[name]:
			errs = append(errs, field.Duplicate(p, name))
		}
		seen[sysctl.Name] = true
		switch namespace := sysctlNamespace(sysctl.Name); {
		case s.HostNetwork && namespace == "net":
			errs = append(errs, field.Invalid(p, sysctl.Name, "may not be specified when 'hostNetwork' is true"))
		case s.HostIPC && namespace == "ipc":
			errs = append(errs, field.Invalid(p, sysctl.Name, "may not be specified when 'hostIPC' is true"))
		}
	}
	return errs
}

// sysctlNamespace is the kind of kernel namespace that a parameter is of; empty if it is the whole machine's.
func sysctlNamespace(name string) string {
	// Before the first separator decides which one it is, a slash or a dot.
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' {
		name = strings.ReplaceAll(name, "/", ".")
	}
	switch {
	case strings.HasPrefix(name, "net."):
		return "net"
	case strings.HasPrefix(name, "kernel.shm"), strings.HasPrefix(name, "kernel.msg"), strings.HasPrefix(name, "fs.mqueue."), name == "kernel.sem":
		return "ipc"
	}
	return ""
}
