package devices

import (
	"fmt"
	"math"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// maxDiscreteValues is how many values a request policy may list.
const maxDiscreteValues = 10

// validateCapacity judges how much of a capacity may be requested; only a device that is shared may say so.
func validateCapacity(c *resourcev1.DeviceCapacity, shared bool, p *field.Path) field.ErrorList {
	policy, p := c.RequestPolicy, p.Child("requestPolicy")
	switch {
	case policy == nil:
		return nil
	case !shared:
		return field.ErrorList{field.Forbidden(p, "allowMultipleAllocations must be true")}
	case len(policy.ValidValues) > 0 && policy.ValidRange != nil:
		return field.ErrorList{field.Forbidden(p, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)}
	case len(policy.ValidValues) > 0 && policy.Default == nil:
		return field.ErrorList{field.Required(p.Child("default"), "required when validValues is defined")}
	case len(policy.ValidValues) > 0:
		return validateValues(policy.Default, &c.Value, policy.ValidValues, p.Child("validValues"))
	case policy.ValidRange != nil && policy.Default == nil:
		return field.ErrorList{field.Required(p.Child("default"), "required when validRange is defined")}
	case policy.ValidRange != nil:
		return validateRange(policy.Default, &c.Value, policy.ValidRange, p.Child("validRange"))
	}
	return nil
}

func validateValues(def, capacity *resource.Quantity, values []resource.Quantity, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := 1; i < len(values); i++ {
		if values[i-1].Cmp(values[i]) > 0 {
			errs = append(errs, field.Invalid(p.Index(i), values[i].String(), "values must be sorted in ascending order"))
		}
	}
	found := false
	errs = append(errs, unique(values, maxDiscreteValues, p, func(q resource.Quantity, p *field.Path) field.ErrorList {
		found = found || q.Cmp(*def) == 0
		if q.Cmp(*capacity) > 0 {
			return field.ErrorList{field.Invalid(p, q.String(), fmt.Sprintf("option is larger than capacity value: %s", capacity.String()))}
		}
		return nil
	}, func(q resource.Quantity) string { return q.AsDec().String() })...)
	if !found {
		errs = append(errs, field.Invalid(p, def.String(), "default value is not valid according to the requestPolicy"))
	}
	return errs
}

func validateRange(def, capacity *resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, p *field.Path) field.ErrorList {
	if r.Min == nil {
		return field.ErrorList{field.Required(p.Child("min"), "required when validRange is defined")}
	}
	errs := validateBounds(def, capacity, r, p)
	if r.Step == nil && !fractional(def, r.Min, r.Max) {
		return errs
	}
	milli := fractional(def, r.Min, r.Max, r.Step)
	bad := validatePrecision(milli, def, r, p)
	if milli && len(bad) > 0 {
		return append(errs, bad...)
	}
	if r.Step == nil {
		return errs
	}
	if r.Step.Sign() <= 0 {
		return append(errs, field.Invalid(p.Child("step"), r.Step.String(), rules.PositiveText))
	}
	first := r.Min.DeepCopy()
	first.Add(*r.Step)
	if first.Cmp(*capacity) > 0 {
		errs = append(errs, field.Invalid(p.Child("step"), r.Step.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), capacity.String())))
	}
	if len(bad) > 0 {
		return append(errs, bad...)
	}
	errs = append(errs, onStep(def, r, milli, p)...)
	if r.Max != nil {
		errs = append(errs, onStep(r.Max, r, milli, p)...)
	}
	return errs
}

func validateBounds(def, capacity *resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Min.Cmp(*capacity) > 0 {
		errs = append(errs, field.Invalid(p.Child("min"), r.Min.String(), fmt.Sprintf("min is larger than capacity value: %s", capacity.String())))
	}
	if def.Cmp(*r.Min) < 0 {
		errs = append(errs, field.Invalid(p.Child("default"), def.String(), fmt.Sprintf("default is less than min: %s", r.Min.String())))
	}
	if r.Max == nil {
		return errs
	}
	if r.Min.Cmp(*r.Max) > 0 {
		errs = append(errs, field.Invalid(p.Child("max"), r.Min.String(), fmt.Sprintf("min is larger than max: %s", r.Max.String())))
	}
	if r.Max.Cmp(*capacity) > 0 {
		errs = append(errs, field.Invalid(p.Child("max"), r.Max.String(), fmt.Sprintf("max is larger than capacity value: %s", capacity.String())))
	}
	if def.Cmp(*r.Max) > 0 {
		errs = append(errs, field.Invalid(p.Child("default"), def.String(), fmt.Sprintf("default is more than max: %s", r.Max.String())))
	}
	return errs
}

// fractional says whether any of the quantities is no whole number.
func fractional(qs ...*resource.Quantity) bool {
	for _, q := range qs {
		if q != nil {
			whole := resource.NewQuantity(q.Value(), q.Format)
			if q.Cmp(*whole) != 0 && q.CmpInt64(math.MaxInt64) <= 0 {
				return true
			}
		}
	}
	return false
}

// validatePrecision finds what steps can't be counted in: thousandths, or whole numbers of 64 bits.
func validatePrecision(milli bool, def *resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, part := range []struct {
		name string
		q    *resource.Quantity
	}{{"default", def}, {"min", r.Min}, {"max", r.Max}, {"step", r.Step}} {
		switch q := part.q; {
		case q == nil:
		case milli:
			if q.Cmp(*resource.NewMilliQuantity(q.MilliValue(), q.Format)) != 0 {
				errs = append(errs, field.Invalid(p.Child(part.name), q.String(), "value cannot be represented as a milli value"))
			}
		case q.Sign() < 0:
			errs = append(errs, field.Invalid(p.Child(part.name), q.String(), rules.NotNegativeText))
		case q.CmpInt64(math.MaxInt64) > 0:
			errs = append(errs, field.Invalid(p.Child(part.name), q.String(), "must not be larger than 9223372036854775807"))
		}
	}
	return errs
}

// onStep wants a value to be a whole number of steps above the minimum.
func onStep(q *resource.Quantity, r *resourcev1.CapacityRequestPolicyRange, milli bool, p *field.Path) field.ErrorList {
	above, step := q.Value()-r.Min.Value(), r.Step.Value()
	if milli {
		above, step = q.MilliValue()-r.Min.MilliValue(), r.Step.MilliValue()
	}
	if above%step == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(p.Child("step"), q.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", r.Step.String(), r.Min.String()))}
}
