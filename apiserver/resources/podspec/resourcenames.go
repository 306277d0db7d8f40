package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// quotas are the names without a domain that a quota can count.
var quotas = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsStorage, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
	corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
	corev1.ResourcePersistentVolumeClaims, corev1.ResourceConfigMaps, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

// integers are the names that count whole things.
var integers = []corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices, corev1.ResourceReplicationControllers, corev1.ResourceSecrets,
	corev1.ResourceConfigMaps, corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

// IsQuota says whether a quota can count a name without a domain.
func IsQuota(name corev1.ResourceName) bool {
	return slices.Contains(quotas, name) || isHugePages(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

// IsInteger says whether a resource counts whole things.
func IsInteger(name corev1.ResourceName) bool {
	return slices.Contains(integers, name) || IsExtended(name)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// IsNative says whether a resource is the system's own.
func IsNative(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// IsExtended says whether a resource is someone else's, that nodes advertise.
func IsExtended(name corev1.ResourceName) bool {
	if IsNative(name) || strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// Overcommit says whether more of a resource may be promised than there is.
func Overcommit(name corev1.ResourceName) bool { return IsNative(name) && !isHugePages(name) }

// ValidateResourceName demands a resource that is known, or has a domain in its name.
func ValidateResourceName(name corev1.ResourceName, path *field.Path) field.ErrorList {
	if texts := validation.IsQualifiedName(string(name)); len(texts) > 0 {
		return rules.Invalid(path, name, texts)
	}
	if !strings.Contains(string(name), "/") && !IsQuota(name) && name != corev1.ResourceStorage {
		return field.ErrorList{field.Invalid(path, name, "must be a standard resource type or fully qualified")}
	}
	return nil
}

// ValidateContainerResource demands a resource that a container can have.
func ValidateContainerResource(name corev1.ResourceName, path *field.Path) field.ErrorList {
	errs := ValidateResourceName(name, path)
	switch {
	case !strings.Contains(string(name), "/"):
		if !slices.Contains(standard, name) && !isHugePages(name) {
			errs = append(errs, field.Invalid(path, name, "must be a standard resource for containers"))
		}
	case !IsNative(name) && !IsExtended(name):
		errs = append(errs, field.Invalid(path, name, "doesn't follow extended resource name standard"))
	}
	return errs
}
