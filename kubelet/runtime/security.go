package runtime

import (
	"errors"
	"fmt"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// Paths of /proc and /sys that a container neither sees nor changes unless procMount says Unmasked. The runtimes'
// own lists are the rule (moby oci/defaults.go).
var (
	maskedPaths = []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
		"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
		"/sys/devices/virtual/powercap",
	}
	readonlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)

// ImageUser is the user that the image names: a number, or a name that only the image's own files can resolve.
type ImageUser struct {
	UID  *int64
	Name string
}

func sandboxSecurity(pod *v1.Pod) *runtimeapi.LinuxSandboxSecurityContext {
	security := &runtimeapi.LinuxSandboxSecurityContext{
		Privileged:       hasPrivileged(pod),
		Seccomp:          &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault},
		NamespaceOptions: namespaces(pod),
	}
	if sc := pod.Spec.SecurityContext; sc != nil {
		security.RunAsUser, security.RunAsGroup = int64Value(sc.RunAsUser), int64Value(sc.RunAsGroup)
		security.SelinuxOptions = selinux(sc.SELinuxOptions)
		security.SupplementalGroups, security.SupplementalGroupsPolicy = supplementalGroups(sc)
	}
	return security
}

// containerSecurity merges the pod's and the container's security contexts, the container's fields first.
func containerSecurity(pod *v1.Pod, container *v1.Container, image ImageUser, seccompRoot string) (*runtimeapi.LinuxContainerSecurityContext, error) {
	effective := effectiveSecurity(pod, container)
	if err := verifyNonRoot(pod, container, effective, image); err != nil {
		return nil, err
	}
	seccomp, err := seccompProfile(effective.SeccompProfile, seccompRoot)
	if err != nil {
		return nil, err
	}
	security := &runtimeapi.LinuxContainerSecurityContext{
		Capabilities:     capabilities(effective.Capabilities),
		Privileged:       isTrue(effective.Privileged),
		ReadonlyRootfs:   isTrue(effective.ReadOnlyRootFilesystem),
		NoNewPrivs:       effective.AllowPrivilegeEscalation != nil && !*effective.AllowPrivilegeEscalation,
		RunAsUser:        int64Value(effective.RunAsUser),
		RunAsGroup:       int64Value(effective.RunAsGroup),
		SelinuxOptions:   selinux(effective.SELinuxOptions),
		NamespaceOptions: namespaces(pod),
		Seccomp:          seccomp,
		MaskedPaths:      maskedPaths,
		ReadonlyPaths:    readonlyPaths,
	}
	if effective.ProcMount != nil && *effective.ProcMount == v1.UnmaskedProcMount {
		security.MaskedPaths, security.ReadonlyPaths = []string{}, []string{}
	}
	if effective.RunAsUser == nil {
		security.RunAsUser, security.RunAsUsername = int64Value(image.UID), image.Name
	}
	if sc := pod.Spec.SecurityContext; sc != nil {
		security.SupplementalGroups, security.SupplementalGroupsPolicy = supplementalGroups(sc)
	}
	return security, nil
}

func effectiveSecurity(pod *v1.Pod, container *v1.Container) v1.SecurityContext {
	var effective v1.SecurityContext
	if container.SecurityContext != nil {
		effective = *container.SecurityContext
	}
	if sc := pod.Spec.SecurityContext; sc != nil {
		effective.RunAsUser = firstSet(effective.RunAsUser, sc.RunAsUser)
		effective.RunAsGroup = firstSet(effective.RunAsGroup, sc.RunAsGroup)
		effective.RunAsNonRoot = firstSet(effective.RunAsNonRoot, sc.RunAsNonRoot)
		effective.SELinuxOptions = firstSet(effective.SELinuxOptions, sc.SELinuxOptions)
		effective.SeccompProfile = firstSet(effective.SeccompProfile, sc.SeccompProfile)
	}
	return effective
}

func verifyNonRoot(pod *v1.Pod, container *v1.Container, effective v1.SecurityContext, image ImageUser) error {
	if !isTrue(effective.RunAsNonRoot) {
		return nil
	}
	where := fmt.Sprintf("(pod: %q, container: %s)", podspec.Describe(pod), container.Name)
	switch {
	case effective.RunAsUser != nil && *effective.RunAsUser == 0:
		return fmt.Errorf("container's runAsUser breaks non-root policy %s", where)
	case effective.RunAsUser != nil:
		return nil
	case image.UID == nil && image.Name != "":
		return fmt.Errorf("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root %s", image.Name, where)
	case image.UID != nil && *image.UID == 0:
		return fmt.Errorf("container has runAsNonRoot and image will run as root %s", where)
	default:
		return nil
	}
}

func seccompProfile(profile *v1.SeccompProfile, root string) (*runtimeapi.SecurityProfile, error) {
	if profile == nil {
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}, nil
	}
	switch profile.Type {
	case v1.SeccompProfileTypeRuntimeDefault:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_RuntimeDefault}, nil
	case v1.SeccompProfileTypeLocalhost:
		if profile.LocalhostProfile == nil || *profile.LocalhostProfile == "" {
			return nil, errors.New("localhostProfile must be set if seccompProfile type is Localhost.")
		}
		return &runtimeapi.SecurityProfile{
			ProfileType:  runtimeapi.SecurityProfile_Localhost,
			LocalhostRef: filepath.Join(root, *profile.LocalhostProfile),
		}, nil
	default:
		return &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Unconfined}, nil
	}
}

// namespaces says which of the kernel's namespaces the pod shares with the host. A pod shares its pid namespace
// among its containers only when it asks to.
func namespaces(pod *v1.Pod) *runtimeapi.NamespaceOption {
	options := &runtimeapi.NamespaceOption{
		Network: runtimeapi.NamespaceMode_POD, Ipc: runtimeapi.NamespaceMode_POD, Pid: runtimeapi.NamespaceMode_CONTAINER,
	}
	if pod.Spec.HostNetwork {
		options.Network = runtimeapi.NamespaceMode_NODE
	}
	if pod.Spec.HostIPC {
		options.Ipc = runtimeapi.NamespaceMode_NODE
	}
	if pod.Spec.HostPID {
		options.Pid = runtimeapi.NamespaceMode_NODE
	} else if isTrue(pod.Spec.ShareProcessNamespace) {
		options.Pid = runtimeapi.NamespaceMode_POD
	}
	return options
}

func supplementalGroups(sc *v1.PodSecurityContext) ([]int64, runtimeapi.SupplementalGroupsPolicy) {
	var groups []int64
	if sc.FSGroup != nil {
		groups = append(groups, *sc.FSGroup)
	}
	groups = append(groups, sc.SupplementalGroups...)
	policy := runtimeapi.SupplementalGroupsPolicy_Merge
	if sc.SupplementalGroupsPolicy != nil && *sc.SupplementalGroupsPolicy == v1.SupplementalGroupsPolicyStrict {
		policy = runtimeapi.SupplementalGroupsPolicy_Strict
	}
	return groups, policy
}

func capabilities(c *v1.Capabilities) *runtimeapi.Capability {
	if c == nil {
		return nil
	}
	capability := &runtimeapi.Capability{}
	for _, add := range c.Add {
		capability.AddCapabilities = append(capability.AddCapabilities, string(add))
	}
	for _, drop := range c.Drop {
		capability.DropCapabilities = append(capability.DropCapabilities, string(drop))
	}
	return capability
}

func hasPrivileged(pod *v1.Pod) bool {
	for container := range podspec.All(pod) {
		if container.SecurityContext != nil && isTrue(container.SecurityContext.Privileged) {
			return true
		}
	}
	return false
}

func selinux(o *v1.SELinuxOptions) *runtimeapi.SELinuxOption {
	if o == nil {
		return nil
	}
	return &runtimeapi.SELinuxOption{User: o.User, Role: o.Role, Type: o.Type, Level: o.Level}
}

func int64Value(value *int64) *runtimeapi.Int64Value {
	if value == nil {
		return nil
	}
	return &runtimeapi.Int64Value{Value: *value}
}

func firstSet[T any](first, second *T) *T {
	if first != nil {
		return first
	}
	return second
}

func isTrue(value *bool) bool { return value != nil && *value }
