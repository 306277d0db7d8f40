package devices

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	devicecel "k8s.io/dynamic-resource-allocation/cel"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// requestNames gives the names of a claim's requests, each with those of its alternatives.
func requestNames(c *resourcev1.DeviceClaim) map[string][]string {
	names := make(map[string][]string, len(c.Requests))
	for _, r := range c.Requests {
		names[r.Name] = nil
		for _, s := range r.FirstAvailable {
			names[r.Name] = append(names[r.Name], s.Name)
		}
	}
	return names
}

func validateClaim(c *resourcev1.DeviceClaim, p *field.Path) field.ErrorList {
	names := requestNames(c)
	errs := unique(c.Requests, resourcev1.DeviceRequestsMaxSize, p.Child("requests"), validateRequest,
		func(r resourcev1.DeviceRequest) string { return r.Name })
	errs = append(errs, each(c.Constraints, resourcev1.DeviceConstraintsMaxSize, p.Child("constraints"), func(k resourcev1.DeviceConstraint, p *field.Path) field.ErrorList {
		return validateConstraint(&k, names, p)
	})...)
	return append(errs, each(c.Config, resourcev1.DeviceConfigMaxSize, p.Child("config"), func(k resourcev1.DeviceClaimConfiguration, p *field.Path) field.ErrorList {
		return append(validateRequestReferences(k.Requests, names, p.Child("requests")), validateConfiguration(&k.DeviceConfiguration, p, false)...)
	})...)
}

func validateRequest(r resourcev1.DeviceRequest, p *field.Path) field.ErrorList {
	errs := validateLabel(r.Name, p.Child("name"))
	switch {
	case r.Exactly == nil && len(r.FirstAvailable) == 0:
		return append(errs, field.Required(p, "exactly one of `exactly` or `firstAvailable` is required"))
	case r.Exactly != nil && len(r.FirstAvailable) > 0:
		return append(errs, field.Invalid(p, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"))
	case r.Exactly != nil:
		e := r.Exactly
		return append(errs, validateWanted(e.DeviceClassName, e.Selectors, e.AllocationMode, e.Count, e.Tolerations, p.Child("exactly"))...)
	}
	return append(errs, unique(r.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize, p.Child("firstAvailable"), func(s resourcev1.DeviceSubRequest, p *field.Path) field.ErrorList {
		return append(validateLabel(s.Name, p.Child("name")), validateWanted(s.DeviceClassName, s.Selectors, s.AllocationMode, s.Count, s.Tolerations, p)...)
	}, func(s resourcev1.DeviceSubRequest) string { return s.Name })...)
}

// validateWanted judges what a request or one of its alternatives asks for.
func validateWanted(class string, selectors []resourcev1.DeviceSelector, mode resourcev1.DeviceAllocationMode, count int64, tolerations []resourcev1.DeviceToleration, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("deviceClassName"), class)
	if class != "" {
		errs = append(errs, rules.Invalid(p.Child("deviceClassName"), class, rules.LongName(class, false))...)
	}
	errs = append(errs, each(selectors, resourcev1.DeviceSelectorsMaxSize, p.Child("selectors"), func(s resourcev1.DeviceSelector, p *field.Path) field.ErrorList {
		return validateSelector(s, p, false)
	})...)
	switch mode {
	case resourcev1.DeviceAllocationModeAll:
		if count != 0 {
			errs = append(errs, field.Invalid(p.Child("count"), count, fmt.Sprintf("must not be specified when allocationMode is '%s'", mode)))
		}
	case resourcev1.DeviceAllocationModeExactCount:
		if count <= 0 {
			errs = append(errs, field.Invalid(p.Child("count"), count, rules.PositiveText))
		}
	default:
		errs = append(errs, field.NotSupported(p.Child("allocationMode"), mode, []resourcev1.DeviceAllocationMode{resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount}))
	}
	return append(errs, each(tolerations, resourcev1.DeviceTolerationsMaxLength, p.Child("tolerations"), validateToleration)...)
}

func validateSelector(s resourcev1.DeviceSelector, p *field.Path, stored bool) field.ErrorList {
	if s.CEL == nil {
		return rules.Required(p.Child("cel"), "")
	}
	if stored {
		return nil
	}
	return validateExpression(s.CEL.Expression, p.Child("cel", "expression"))
}

// validateExpression compiles an expression over a device and bounds what it can cost.
func validateExpression(expression string, p *field.Path) field.ErrorList {
	if len(expression) > resourcev1.CELSelectorExpressionMaxLength {
		return field.ErrorList{field.TooLong(p, "", resourcev1.CELSelectorExpressionMaxLength)}
	}
	env := environment.NewExpressions
	result := devicecel.GetCompiler(devicecel.Features{EnableConsumableCapacity: true}).CompileCELExpression(expression, devicecel.Options{EnvType: &env})
	if result.Error != nil {
		return field.ErrorList{expressionError(result.Error, expression, p)}
	}
	if result.MaxCost > resourcev1.CELSelectorExpressionMaxCost {
		return field.ErrorList{field.Forbidden(p, "too complex, exceeds cost limit")}
	}
	return nil
}

func expressionError(err error, expression string, p *field.Path) *field.Error {
	var e *cel.Error
	if errors.As(err, &e) {
		switch e.Type {
		case cel.ErrorTypeRequired:
			return field.Required(p, e.Detail)
		case cel.ErrorTypeInvalid:
			return field.Invalid(p, expression, e.Detail)
		}
	}
	return field.InternalError(p, err)
}

func validateConstraint(c *resourcev1.DeviceConstraint, names map[string][]string, p *field.Path) field.ErrorList {
	errs := validateRequestReferences(c.Requests, names, p.Child("requests"))
	switch {
	case c.MatchAttribute != nil:
		return append(errs, validateFullName(*c.MatchAttribute, p.Child("matchAttribute"))...)
	case c.DistinctAttribute != nil:
		return append(errs, validateFullName(*c.DistinctAttribute, p.Child("distinctAttribute"))...)
	}
	return append(errs, field.Required(p, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
}

func validateRequestReferences(list []string, names map[string][]string, p *field.Path) field.ErrorList {
	return unique(list, resourcev1.DeviceRequestsMaxSize, p, func(name string, p *field.Path) field.ErrorList {
		return validateRequestReference(name, names, p)
	}, func(name string) string { return name })
}

// validateRequestReference wants a request's name, or those of a request and of one of its alternatives.
func validateRequestReference(name string, names map[string][]string, p *field.Path) field.ErrorList {
	const text = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		return field.ErrorList{field.Invalid(p, name, text)}
	}
	var errs field.ErrorList
	for _, part := range parts {
		errs = append(errs, validateLabel(part, p)...)
	}
	alternatives, found := names[parts[0]]
	if !found || len(parts) == 2 && !slices.Contains(alternatives, parts[1]) {
		errs = append(errs, field.Invalid(p, name, text))
	}
	return errs
}

func validateConfiguration(c *resourcev1.DeviceConfiguration, p *field.Path, stored bool) field.ErrorList {
	if c.Opaque == nil {
		return rules.Required(p.Child("opaque"), "")
	}
	errs := validateDriver(c.Opaque.Driver, p.Child("opaque", "driver"))
	return append(errs, validateParameters(c.Opaque.Parameters.Raw, resourcev1.OpaqueParametersMaxLength, stored, p.Child("opaque", "parameters"))...)
}

// validateParameters wants a JSON object. The size of one that was stored before is not looked at.
func validateParameters(raw []byte, limit int, stored bool, p *field.Path) field.ErrorList {
	var v any
	switch {
	case len(raw) == 0:
		return rules.Required(p, "")
	case !stored && len(raw) > limit:
		return field.ErrorList{field.TooLong(p, "", limit)}
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return field.ErrorList{field.Invalid(p, "<value omitted>", fmt.Sprintf("error parsing data as JSON: %v", err))}
	}
	if v == nil {
		return rules.Required(p, "")
	}
	if _, object := v.(map[string]any); !object {
		return field.ErrorList{field.Invalid(p, "<value omitted>", "must be a valid JSON object")}
	}
	return nil
}
