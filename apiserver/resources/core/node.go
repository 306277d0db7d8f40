package core

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/goform"
)

var (
	nodeInfoDocs   = corev1.NodeSystemInfo{}.SwaggerDoc()
	nodeStatusDocs = corev1.NodeStatus{}.SwaggerDoc()
)

// Node is a machine that runs pods.
var Node = resource.Define(resource.Kind[*corev1.Node]{
	Name:  resource.Name{Version: "v1", Kind: "Node", Plural: "nodes", Short: []string{"no"}},
	List:  &corev1.NodeList{},
	Store: "minions",
	Default: func(n *corev1.Node) {
		if n.Status.Allocatable == nil && n.Status.Capacity != nil {
			n.Status.Allocatable = n.Status.Capacity.DeepCopy()
		}
		// podCIDR is the old name of the first of podCIDRs; both are always shown.
		switch {
		case len(n.Spec.PodCIDRs) > 0:
			n.Spec.PodCIDR = n.Spec.PodCIDRs[0]
		case n.Spec.PodCIDR != "":
			n.Spec.PodCIDRs = []string{n.Spec.PodCIDR}
		}
	},
	Strategy: resource.Strategy[*corev1.Node]{
		PrepareForUpdate: func(_ context.Context, n, old *corev1.Node) { n.Status = old.Status },
		Validate:         func(_ context.Context, n *corev1.Node) field.ErrorList { return validateNode(n) },
		ValidateUpdate:   func(_ context.Context, n, old *corev1.Node) field.ErrorList { return validateNodeUpdate(n, old) },
		ResetFields:      []string{"status"},
	},
	Subresources: []resource.Subresource{{Name: "proxy", Verbs: resource.ProxyVerbs, GVK: corev1.SchemeGroupVersion.WithKind("NodeProxyOptions")}},
	Status: &resource.Strategy[*corev1.Node]{
		PrepareForUpdate: func(_ context.Context, n, old *corev1.Node) { n.Spec = old.Spec },
		ValidateUpdate:   func(_ context.Context, n, _ *corev1.Node) field.ErrorList { return validateAddresses(n) },
		ResetFields:      []string{"spec"},
	},
	Fields:       map[string]func(*corev1.Node) string{"spec.unschedulable": func(n *corev1.Node) string { return boolText(n.Spec.Unschedulable) }},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Status", "string", "The status of the node"),
		resource.Column("Roles", "string", "The roles of the node"),
		resource.AgeColumn,
		resource.Column("Version", "string", nodeInfoDocs["kubeletVersion"]),
		resource.WideColumn("Internal-IP", "string", nodeStatusDocs["addresses"]),
		resource.WideColumn("External-IP", "string", nodeStatusDocs["addresses"]),
		resource.WideColumn("OS-Image", "string", nodeInfoDocs["osImage"]),
		resource.WideColumn("Kernel-Version", "string", nodeInfoDocs["kernelVersion"]),
		resource.WideColumn("Container-Runtime", "string", nodeInfoDocs["containerRuntimeVersion"]),
	},
	Row: func(n *corev1.Node) []any {
		info := &n.Status.NodeInfo
		kernel := cmp.Or(info.KernelVersion, "<unknown>")
		if info.Architecture != "" {
			kernel += " (" + info.Architecture + ")"
		}
		return []any{n.Name, nodeStatus(n), orNone(nodeRoles(n)), resource.AgeOf(n), info.KubeletVersion,
			orNone(nodeAddress(n, corev1.NodeInternalIP)), orNone(nodeAddress(n, corev1.NodeExternalIP)),
			cmp.Or(info.OSImage, "<unknown>"), kernel, cmp.Or(info.ContainerRuntimeVersion, "<unknown>")}
	},
})

func nodeStatus(n *corev1.Node) string {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			status = "NotReady"
			if c.Status == corev1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	return status
}

func nodeRoles(n *corev1.Node) string {
	const prefix, old = "node-role.kubernetes.io/", "kubernetes.io/role"
	var roles []string
	for k, v := range n.Labels {
		if role, ok := strings.CutPrefix(k, prefix); ok && role != "" {
			roles = append(roles, role)
		} else if k == old && v != "" {
			roles = append(roles, v)
		}
	}
	slices.Sort(roles)
	return strings.Join(slices.Compact(roles), ",")
}

func nodeAddress(n *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return ""
}

func validateNode(n *corev1.Node) field.ErrorList {
	// Upstream says of taints that they are metadata.
	errs := validateTaints(n.Spec.Taints, field.NewPath("metadata", "taints"))
	path := field.NewPath("spec", "podCIDRs")
	for i, c := range n.Spec.PodCIDRs {
		errs = append(errs, validation.IsValidCIDR(path.Index(i), c)...)
	}
	errs = append(errs, validateRanges(n.Spec.PodCIDRs, path)...)
	return append(errs, validateAddresses(n)...)
}

// validateRanges: of several ranges of a node there is one of each family.
func validateRanges(ranges []string, path *field.Path) field.ErrorList {
	if len(ranges) < 2 {
		return nil
	}
	dual, err := netutils.IsDualStackCIDRStrings(ranges)
	var errs field.ErrorList
	if err != nil {
		errs = append(errs, field.InternalError(path, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%w", err)))
	}
	if !dual || len(ranges) > 2 {
		errs = append(errs, field.Invalid(path, ranges, "may specify no more than one CIDR for each IP family"))
	}
	return errs
}

func validateAddresses(n *corev1.Node) field.ErrorList {
	var errs field.ErrorList
	seen := map[corev1.NodeAddress]bool{}
	for i, a := range n.Status.Addresses {
		if seen[a] {
			errs = append(errs, field.Duplicate(field.NewPath("status", "addresses").Index(i), a))
		}
		seen[a] = true
	}
	return errs
}

func validateTaints(ts []corev1.Taint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	type key struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[key]bool{}
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	for i, t := range ts {
		at := path.Index(i)
		errs = append(errs, unversioned.ValidateLabelName(t.Key, at.Child("key"))...)
		for _, text := range validation.IsValidLabelValue(t.Value) {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, text))
		}
		switch {
		case t.Effect == "":
			errs = append(errs, field.Required(at.Child("effect"), ""))
		case !slices.Contains(effects, t.Effect):
			errs = append(errs, field.NotSupported(at.Child("effect"), t.Effect, effects))
		}
		k := key{t.Key, t.Effect}
		if seen[k] {
			err := field.Duplicate(at, goform.Of(t))
			err.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, err)
		}
		seen[k] = true
	}
	return errs
}

func validateNodeUpdate(n, old *corev1.Node) field.ErrorList {
	errs := validateNode(n)
	spec := field.NewPath("spec")
	if len(old.Spec.PodCIDRs) > 0 && !slices.Equal(n.Spec.PodCIDRs, old.Spec.PodCIDRs) {
		errs = append(errs, field.Forbidden(spec.Child("podCIDRs"), "node updates may not change podCIDR except from \"\" to valid"))
	}
	if old.Spec.ProviderID != "" && n.Spec.ProviderID != old.Spec.ProviderID {
		errs = append(errs, field.Forbidden(spec.Child("providerID"), "node updates may not change providerID except from \"\" to valid"))
	}
	return errs
}
