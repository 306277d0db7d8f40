package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Texts that many kinds refuse a value with.
const (
	NotNegativeText = "must be greater than or equal to 0"
	PositiveText    = "must be greater than zero"
	IntegerText     = "must be an integer"
	ImmutableText   = apivalidation.FieldImmutableErrorMsg
)

// Invalid makes an error of each text.
func Invalid(path *field.Path, value any, texts []string) field.ErrorList {
	var errs field.ErrorList
	for _, t := range texts {
		errs = append(errs, field.Invalid(path, value, t))
	}
	return errs
}

// OneOf demands a value of a set; none at all is told apart.
func OneOf[T ~string](path *field.Path, v T, all ...T) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return Among(path, v, all...)
}

// Among demands a value of a set, which may hold the empty one.
func Among[T ~string](path *field.Path, v T, all ...T) field.ErrorList {
	if slices.Contains(all, v) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, v, all)}
}

// Required demands a value.
func Required(path *field.Path, v string) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return nil
}

// NotNegative demands 0 or more.
func NotNegative[N ~int32 | ~int64](path *field.Path, n N) field.ErrorList {
	return AtLeast(path, n, 0)
}

// AtLeast demands a number that is not below the least.
func AtLeast[N ~int32 | ~int64](path *field.Path, n, least N) field.ErrorList {
	if n < least {
		return field.ErrorList{field.Invalid(path, n, fmt.Sprintf("must be greater than or equal to %d", least))}
	}
	return nil
}

// NotNegativePtr demands 0 or more of what is given.
func NotNegativePtr[N ~int32 | ~int64](path *field.Path, n *N) field.ErrorList {
	if n == nil {
		return nil
	}
	return NotNegative(path, *n)
}

// PositiveQuantity demands more than 0.
func PositiveQuantity(path *field.Path, q resource.Quantity) field.ErrorList {
	if q.Sign() <= 0 {
		return field.ErrorList{field.Invalid(path, q.String(), PositiveText)}
	}
	return nil
}

// Immutable demands that a field stays as it was.
func Immutable(path *field.Path, now, was any) field.ErrorList {
	return apivalidation.ValidateImmutableField(now, was, path)
}

// Selector judges a label selector; nil is none.
func Selector(path *field.Path, s *metav1.LabelSelector) field.ErrorList {
	return unversioned.ValidateLabelSelector(s, unversioned.LabelSelectorValidationOptions{}, path)
}

// NotAbove demands that each count is at most a limit, in the words of replica counts.
func NotAbove(path *field.Path, n, limit int32, text string) field.ErrorList {
	if n > limit {
		return field.ErrorList{field.Invalid(path, n, text)}
	}
	return nil
}

// LongName judges names whose rule is declared with their type, and whose text therefore counts bytes.
func LongName(name string, prefix bool) []string {
	if prefix {
		name = strings.TrimSuffix(name, "-") + "a"
	}
	return content.IsDNS1123Subdomain(name)
}

// PathSegment judges names that need only fit into a path.
func PathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// IntOrPercent demands a number of 0 or more, or a percentage.
func IntOrPercent(path *field.Path, v intstr.IntOrString) field.ErrorList {
	if v.Type == intstr.String {
		return Invalid(path, v, validation.IsValidPercent(v.StrVal))
	}
	return NotNegative(path, v.IntVal)
}

// AtMostAll refuses more than 100 percent.
func AtMostAll(path *field.Path, v intstr.IntOrString) field.ErrorList {
	if n, ok := Percent(v); ok && n > 100 {
		return field.ErrorList{field.Invalid(path, v, "must not be greater than 100%")}
	}
	return nil
}

// Percent gives the number of a percentage.
func Percent(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(validation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	return n, err == nil
}
