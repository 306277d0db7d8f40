package devices

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

func validateSlice(s, old *resourcev1.ResourceSliceSpec) field.ErrorList {
	p := specPath
	errs := validateDriver(s.Driver, p.Child("driver"))
	errs = append(errs, validatePool(s.Pool.Name, p.Child("pool", "name"))...)
	if s.Pool.ResourceSliceCount <= 0 {
		errs = append(errs, field.Invalid(p.Child("pool", "resourceSliceCount"), s.Pool.ResourceSliceCount, rules.PositiveText))
	}
	if s.Pool.Generation < 0 {
		errs = append(errs, field.Invalid(p.Child("pool", "generation"), s.Pool.Generation, "must be greater than or equal to zero"))
	}
	if old != nil {
		errs = append(errs, rules.Immutable(p.Child("pool", "name"), s.Pool.Name, old.Pool.Name)...)
		errs = append(errs, rules.Immutable(p.Child("driver"), s.Driver, old.Driver)...)
		errs = append(errs, rules.Immutable(p.Child("nodeName"), s.NodeName, old.NodeName)...)
	}
	errs = append(errs, validateSliceNodes(s, p)...)
	if s.SharedCounters != nil && s.Devices != nil {
		errs = append(errs, field.Invalid(p, "", "only one of `sharedCounters` or `devices` is allowed"))
	}
	limit := resourcev1.ResourceSliceMaxDevices
	if slices.ContainsFunc(s.Devices, func(d resourcev1.Device) bool { return len(d.Taints)+len(d.ConsumesCounters) > 0 }) {
		limit = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
	}
	errs = append(errs, unique(s.Devices, limit, p.Child("devices"), func(d resourcev1.Device, p *field.Path) field.ErrorList {
		return validateDevice(&d, deviceOf(old, d.Name), ptr.Deref(s.PerDeviceNodeSelection, false), p)
	}, func(d resourcev1.Device) string { return d.Name })...)
	return append(errs, unique(s.SharedCounters, resourcev1.ResourceSliceMaxCounterSets, p.Child("sharedCounters"), func(c resourcev1.CounterSet, p *field.Path) field.ErrorList {
		return validateCounters(c.Name, "name", c.Counters, resourcev1.ResourceSliceMaxCountersPerCounterSet, p)
	}, func(c resourcev1.CounterSet) string { return c.Name })...)
}

func deviceOf(s *resourcev1.ResourceSliceSpec, name string) *resourcev1.Device {
	if s == nil {
		return nil
	}
	for i := range s.Devices {
		if s.Devices[i].Name == name {
			return &s.Devices[i]
		}
	}
	return nil
}

// onlyTrue notes a flag that is set; one that is there must be true.
func onlyTrue(b *bool, name string, set *[]string, p *field.Path) field.ErrorList {
	switch {
	case b == nil:
	case *b:
		*set = append(*set, "`"+name+"`")
	default:
		return field.ErrorList{field.Invalid(p.Child(name), *b, "must be either unset or set to true")}
	}
	return nil
}

// validateSliceNodes: a slice says in exactly one way which nodes its devices are on.
func validateSliceNodes(s *resourcev1.ResourceSliceSpec, p *field.Path) field.ErrorList {
	var (
		set  []string
		errs field.ErrorList
	)
	if s.NodeName != nil {
		if *s.NodeName == "" {
			errs = append(errs, field.Invalid(p.Child("nodeName"), "", "must be either unset or set to a non-empty string"))
		} else {
			set = append(set, "`nodeName`")
			errs = append(errs, rules.Invalid(p.Child("nodeName"), *s.NodeName, rules.LongName(*s.NodeName, false))...)
		}
	}
	if n := s.NodeSelector; n != nil {
		set = append(set, "`nodeSelector`")
		errs = append(errs, podspec.ValidateNodeSelector(n, p.Child("nodeSelector"))...)
		if len(n.NodeSelectorTerms) != 1 {
			errs = append(errs, field.Invalid(p.Child("nodeSelector", "nodeSelectorTerms"), n.NodeSelectorTerms, "must have exactly one node selector term"))
		}
	}
	errs = append(errs, onlyTrue(s.AllNodes, "allNodes", &set, p)...)
	errs = append(errs, onlyTrue(s.PerDeviceNodeSelection, "perDeviceNodeSelection", &set, p)...)
	return append(errs, exactlyOne(set, "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required", ", but multiple fields are set", p)...)
}

// exactlyOne refuses none and several.
func exactlyOne(set []string, text, several string, p *field.Path) field.ErrorList {
	switch len(set) {
	case 0:
		return field.ErrorList{field.Required(p, text)}
	case 1:
		return nil
	}
	return field.ErrorList{field.Invalid(p, "{"+strings.Join(set, ", ")+"}", text+several)}
}

func validateDevice(d, old *resourcev1.Device, perDevice bool, p *field.Path) field.ErrorList {
	errs := validateLabel(d.Name, p.Child("name"))
	if n := len(d.Attributes) + len(d.Capacity); n > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
		errs = append(errs, field.Invalid(p, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice)))
	}
	errs = append(errs, validateNamed(d.Attributes, p.Child("attributes"), validateAttribute)...)
	if old == nil || !equality.Semantic.DeepEqual(old.Capacity, d.Capacity) {
		shared := ptr.Deref(d.AllowMultipleAllocations, false)
		errs = append(errs, validateNamed(d.Capacity, p.Child("capacity"), func(c resourcev1.DeviceCapacity, p *field.Path) field.ErrorList {
			return validateCapacity(&c, shared, p)
		})...)
	}
	if old == nil || !equality.Semantic.DeepEqual(old.Taints, d.Taints) {
		errs = append(errs, each(d.Taints, resourcev1.DeviceTaintsMaxLength, p.Child("taints"), func(t resourcev1.DeviceTaint, p *field.Path) field.ErrorList {
			return validateTaint(&t, nil, p)
		})...)
	}
	errs = append(errs, unique(d.ConsumesCounters, resourcev1.ResourceSliceMaxDeviceCounterConsumptionsPerDevice, p.Child("consumesCounters"), func(c resourcev1.DeviceCounterConsumption, p *field.Path) field.ErrorList {
		return validateCounters(c.CounterSet, "counterSet", c.Counters, resourcev1.ResourceSliceMaxCountersPerDeviceCounterConsumption, p)
	}, func(c resourcev1.DeviceCounterConsumption) string { return c.CounterSet })...)
	errs = append(errs, validateDeviceNodes(d, perDevice, p)...)
	return append(errs, validateBindingConditions(d.BindingConditions, d.BindingFailureConditions, p)...)
}

// validateDeviceNodes: a device says which nodes it is on if its slice leaves it to the devices, and only then.
func validateDeviceNodes(d *resourcev1.Device, perDevice bool, p *field.Path) field.ErrorList {
	if !perDevice {
		if d.NodeName != nil || d.NodeSelector != nil || d.AllNodes != nil {
			return field.ErrorList{field.Invalid(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")}
		}
		return nil
	}
	var (
		set  []string
		errs field.ErrorList
	)
	if d.NodeName != nil {
		if *d.NodeName == "" {
			errs = append(errs, field.Invalid(p.Child("nodeName"), "", "must not be empty"))
		} else {
			set = append(set, "`nodeName`")
			errs = append(errs, rules.Invalid(p.Child("nodeName"), *d.NodeName, rules.LongName(*d.NodeName, false))...)
		}
	}
	if d.NodeSelector != nil {
		set = append(set, "`nodeSelector`")
		errs = append(errs, podspec.ValidateNodeSelector(d.NodeSelector, p.Child("nodeSelector"))...)
	}
	errs = append(errs, onlyTrue(d.AllNodes, "allNodes", &set, p)...)
	return append(errs, exactlyOne(set, "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec", "", p)...)
}

// validateNamed judges a map by attributes' or capacities' names.
func validateNamed[T any](m map[resourcev1.QualifiedName]T, p *field.Path, judge func(T, *field.Path) field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(m)) {
		errs = append(errs, validateName(string(name), p)...)
		errs = append(errs, judge(m[name], p.Key(shortened(string(name), resourcev1.DeviceMaxDomainLength+1+resourcev1.DeviceMaxIDLength)))...)
	}
	return errs
}

// shortened cuts out the middle of a name that is too long to be shown.
func shortened(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	rest := limit - len("...")
	return s[:(rest+1)/2] + "..." + s[len(s)-rest/2:]
}

func validateCounters(set, setField string, counters map[string]resourcev1.Counter, limit int, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child(setField), set)
	if set != "" {
		errs = append(errs, validateLabel(set, p.Child(setField))...)
	}
	cp := p.Child("counters")
	switch {
	case len(counters) == 0:
		return append(errs, field.Required(cp, ""))
	case len(counters) > limit:
		return append(errs, field.TooMany(cp, len(counters), limit))
	}
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		errs = append(errs, rules.Invalid(cp, name, validation.IsDNS1123Label(name))...)
	}
	return errs
}

// semantic is semver.org's version 2.0.0.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

func validateAttribute(a resourcev1.DeviceAttribute, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	set := 0
	for _, there := range []bool{a.BoolValue != nil, a.IntValue != nil, a.StringValue != nil, a.VersionValue != nil} {
		if there {
			set++
		}
	}
	if s := a.StringValue; s != nil && len(*s) > resourcev1.DeviceAttributeMaxValueLength {
		errs = append(errs, field.TooLong(p.Child("string"), "", resourcev1.DeviceAttributeMaxValueLength))
	}
	if v := a.VersionValue; v != nil {
		if !semantic.MatchString(*v) {
			errs = append(errs, field.Invalid(p.Child("version"), *v, "must be a string compatible with semver.org spec 2.0.0"))
		}
		if len(*v) > resourcev1.DeviceAttributeMaxValueLength {
			errs = append(errs, field.TooLong(p.Child("version"), "", resourcev1.DeviceAttributeMaxValueLength))
		}
	}
	switch set {
	case 0:
		errs = append(errs, field.Invalid(p, "", "exactly one value must be specified"))
	case 1:
	default:
		errs = append(errs, field.Invalid(p, a, "exactly one value must be specified"))
	}
	return errs
}
