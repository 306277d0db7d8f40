package core

import (
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// validateAmount demands 0 or more of a resource, and whole ones of what is counted.
func validateAmount(name corev1.ResourceName, q apiresource.Quantity, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(path, q.String(), rules.NotNegativeText))
	}
	if podspec.IsInteger(name) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(path, q, rules.IntegerText))
	}
	return errs
}

// validateBasic demands that a quantity is one.
func validateBasic(q apiresource.Quantity, path *field.Path) field.ErrorList {
	if q.Value() < 0 {
		return field.ErrorList{field.Invalid(path, q.Value(), "must be a valid resource quantity")}
	}
	return nil
}
