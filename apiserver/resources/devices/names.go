package devices

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// each judges the items of a list that is not too long. A limit below 0 is none.
func each[T any](list []T, limit int, p *field.Path, judge func(T, *field.Path) field.ErrorList) field.ErrorList {
	if limit >= 0 && len(list) > limit {
		return field.ErrorList{field.TooMany(p, len(list), limit)}
	}
	var errs field.ErrorList
	for i, item := range list {
		errs = append(errs, judge(item, p.Index(i))...)
	}
	return errs
}

// unique is each, and no two items may have the same key.
func unique[T any, K comparable](list []T, limit int, p *field.Path, judge func(T, *field.Path) field.ErrorList, key func(T) K) field.ErrorList {
	errs := each(list, limit, p, judge)
	if limit >= 0 && len(list) > limit {
		return errs
	}
	seen := make(map[K]bool, len(list))
	for i, item := range list {
		k := key(item)
		if seen[k] {
			errs = append(errs, field.Duplicate(p.Index(i), k))
		}
		seen[k] = true
	}
	return errs
}

func validateLabel(name string, p *field.Path) field.ErrorList {
	return rules.Invalid(p, name, validation.IsDNS1123Label(name))
}

func validateLabels(labels map[string]string, p *field.Path) field.ErrorList {
	return unversioned.ValidateLabels(labels, p)
}

// validateDriver judges a driver's name: that of a CSI driver, in either case.
func validateDriver(driver string, p *field.Path) field.ErrorList {
	if driver == "" {
		return rules.Required(p, "")
	}
	var errs field.ErrorList
	if len(driver) > resourcev1.DriverNameMaxLength {
		errs = append(errs, field.TooLong(p, "", resourcev1.DriverNameMaxLength))
	}
	return append(errs, rules.Invalid(p, driver, validation.IsDNS1123Subdomain(strings.ToLower(driver)))...)
}

// validatePool judges a pool's name: subdomains, separated by slashes.
func validatePool(pool string, p *field.Path) field.ErrorList {
	if pool == "" {
		return rules.Required(p, "")
	}
	var errs field.ErrorList
	if len(pool) > resourcev1.PoolNameMaxLength {
		errs = append(errs, field.TooLong(p, "", resourcev1.PoolNameMaxLength))
	}
	for _, part := range strings.Split(pool, "/") {
		errs = append(errs, rules.Invalid(p, part, validation.IsDNS1123Subdomain(part))...)
	}
	return errs
}

// validateName judges the name of an attribute or a capacity: an identifier, which may follow a domain and a slash.
func validateName(name string, p *field.Path) field.ErrorList {
	domain, id, qualified := strings.Cut(name, "/")
	if !qualified {
		return validateIdentifier(name, p)
	}
	if strings.Contains(id, "/") {
		return nil // as a genuine server does
	}
	var errs field.ErrorList
	if domain == "" {
		errs = append(errs, field.Invalid(p, "", "the domain must not be empty"))
	} else {
		errs = append(errs, validateDriver(domain, p)...)
	}
	if id == "" {
		return append(errs, field.Invalid(p, "", "the name must not be empty"))
	}
	return append(errs, validateIdentifier(id, p)...)
}

func validateFullName(name resourcev1.FullyQualifiedName, p *field.Path) field.ErrorList {
	errs := validateName(string(name), p)
	if !strings.Contains(string(name), "/") {
		errs = append(errs, field.Invalid(p, name, "a fully qualified name must be a domain and a name separated by a slash"))
	}
	return errs
}

func validateIdentifier(id string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(id) > resourcev1.DeviceMaxIDLength {
		errs = append(errs, field.TooLong(p, "", resourcev1.DeviceMaxIDLength))
	}
	return append(errs, rules.Invalid(p, id, content.IsCIdentifier(id))...)
}

var effects = []resourcev1.DeviceTaintEffect{resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone}

// validateTaint judges a taint; an effect that is as before is not looked at.
func validateTaint(t, old *resourcev1.DeviceTaint, p *field.Path) field.ErrorList {
	errs := unversioned.ValidateLabelName(t.Key, p.Child("key"))
	if t.Value != "" {
		errs = append(errs, rules.Invalid(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))...)
	}
	if old == nil || old.Effect != t.Effect {
		errs = append(errs, rules.OneOf(p.Child("effect"), t.Effect, effects...)...)
	}
	return errs
}

func validateToleration(t resourcev1.DeviceToleration, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = unversioned.ValidateLabelName(t.Key, p.Child("key"))
	}
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(p.Child("value"), t.Value, "must be empty for operator `Exists`"))
		}
	case resourcev1.DeviceTolerationOpEqual:
		errs = append(errs, rules.Invalid(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))...)
	default:
		errs = append(errs, rules.OneOf(p.Child("operator"), t.Operator, resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists)...)
	}
	if t.Effect != "" {
		errs = append(errs, rules.Among(p.Child("effect"), t.Effect, effects...)...)
	}
	return errs
}

// validateBindingConditions: conditions to wait for, and those that end the wait, come together and are different ones.
func validateBindingConditions(conditions, failures []string, p *field.Path) field.ErrorList {
	cp, fp := p.Child("bindingConditions"), p.Child("bindingFailureConditions")
	same := func(s string) string { return s }
	errs := unique(conditions, resourcev1.BindingConditionsMaxSize, cp, unversioned.ValidateLabelName, same)
	errs = append(errs, unique(failures, resourcev1.BindingFailureConditionsMaxSize, fp, unversioned.ValidateLabelName, same)...)
	for i, f := range failures {
		if slices.Contains(conditions, f) {
			errs = append(errs, field.Invalid(fp.Index(i), f, "bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	if len(conditions) == 0 && len(failures) > 0 {
		errs = append(errs, field.Invalid(cp, conditions, "bindingConditions are required to use bindingFailureConditions"))
	}
	if len(failures) == 0 && len(conditions) > 0 {
		errs = append(errs, field.Invalid(fp, failures, "bindingFailureConditions are required to use bindingConditions"))
	}
	return errs
}
