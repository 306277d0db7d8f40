package core

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// LimitRange bounds what each container, pod or claim of a namespace may ask for.
var LimitRange = resource.Define(resource.Kind[*corev1.LimitRange]{
	Name:    resource.Name{Version: "v1", Kind: "LimitRange", Plural: "limitranges", Short: []string{"limits"}, Namespaced: true},
	List:    &corev1.LimitRangeList{},
	Store:   "limitranges",
	Default: defaultLimitRange,
	Strategy: resource.Strategy[*corev1.LimitRange]{
		PrepareForCreate: func(_ context.Context, l *corev1.LimitRange) {
			if l.Name == "" {
				l.Name = string(uuid.NewUUID())
			}
		},
		Validate:       func(_ context.Context, l *corev1.LimitRange) field.ErrorList { return validateLimitRange(l) },
		ValidateUpdate: func(_ context.Context, l, _ *corev1.LimitRange) field.ErrorList { return validateLimitRange(l) },
	},
	ValidateName:   apivalidation.NameIsDNSSubdomain,
	CreateOnUpdate: true,
})

// defaultLimitRange: a container's default limit is the most, its default request that limit, or else the least.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		it := &l.Spec.Limits[i]
		if it.Type == corev1.LimitTypeContainer {
			it.Default = fillFrom(it.Default, it.Max)
			it.DefaultRequest = fillFrom(fillFrom(it.DefaultRequest, it.Default), it.Min)
		}
		for _, list := range []corev1.ResourceList{it.Max, it.Min, it.Default, it.DefaultRequest, it.MaxLimitRequestRatio} {
			podspec.RoundUp(list)
		}
	}
}

func fillFrom(list, from corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	for name, q := range from {
		if _, ok := list[name]; !ok {
			list[name] = q.DeepCopy()
		}
	}
	return list
}

func validateLimitRange(l *corev1.LimitRange) field.ErrorList {
	var errs field.ErrorList
	seen := map[corev1.LimitType]bool{}
	for i := range l.Spec.Limits {
		it, path := &l.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		errs = append(errs, validateLimitType(it.Type, path.Child("type"))...)
		if seen[it.Type] {
			errs = append(errs, field.Duplicate(path.Child("type"), it.Type))
		}
		seen[it.Type] = true
		errs = append(errs, validateLimitItem(it, path)...)
	}
	return errs
}

func validateLimitType(t corev1.LimitType, path *field.Path) field.ErrorList {
	if texts := validation.IsQualifiedName(string(t)); len(texts) > 0 {
		return rules.Invalid(path, t, texts)
	}
	standard := []corev1.LimitType{corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim}
	if !strings.Contains(string(t), "/") && !slices.Contains(standard, t) {
		return field.ErrorList{field.Invalid(path, t, "must be a standard limit type or fully qualified")}
	}
	return nil
}

func validateLimitItem(it *corev1.LimitRangeItem, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[corev1.ResourceName]bool{}
	lists := []struct {
		field string
		list  corev1.ResourceList
	}{{"max", it.Max}, {"min", it.Min}, {"default", it.Default}, {"defaultRequest", it.DefaultRequest}, {"maxLimitRequestRatio", it.MaxLimitRequestRatio}}
	for i, l := range lists {
		if i == 4 && it.Type == corev1.LimitTypePersistentVolumeClaim && !has(it.Min, corev1.ResourceStorage) && !has(it.Max, corev1.ResourceStorage) {
			errs = append(errs, field.Required(path.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
		}
		if it.Type == corev1.LimitTypePod && (l.field == "default" || l.field == "defaultRequest") {
			if len(l.list) > 0 {
				errs = append(errs, field.Forbidden(path.Child(l.field), "may not be specified when `type` is 'Pod'"))
			}
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(l.list)) {
			errs = append(errs, validateLimitedName(it.Type, name, path.Child(l.field).Key(string(name)))...)
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		errs = append(errs, validateLimit(it, name, path)...)
	}
	return errs
}

func has(l corev1.ResourceList, name corev1.ResourceName) bool {
	_, ok := l[name]
	return ok
}

func validateLimitedName(t corev1.LimitType, name corev1.ResourceName, path *field.Path) field.ErrorList {
	if t == corev1.LimitTypePod || t == corev1.LimitTypeContainer {
		return podspec.ValidateContainerResource(name, path)
	}
	return podspec.ValidateResourceName(name, path)
}

// validateLimit: least ≤ default request ≤ default ≤ most, for one resource.
func validateLimit(it *corev1.LimitRangeItem, name corev1.ResourceName, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	type bound struct {
		list       corev1.ResourceList
		text, path string
	}
	least, most := bound{it.Min, "min value", "min"}, bound{it.Max, "max value", "max"}
	def, req := bound{it.Default, "default value", "default"}, bound{it.DefaultRequest, "default request value", "defaultRequest"}
	ordered := func(low, high bound, highText, at string, bad corev1.ResourceList) {
		l, ok1 := low.list[name]
		h, ok2 := high.list[name]
		if ok1 && ok2 && l.Cmp(h) > 0 {
			errs = append(errs, field.Invalid(path.Child(at).Key(string(name)), bad[name], fmt.Sprintf("%s %s is greater than %s %s", low.text, l.String(), highText, h.String())))
		}
	}
	ordered(least, most, "max value", "min", it.Min)
	ordered(least, req, "default request value", "defaultRequest", it.DefaultRequest)
	ordered(req, most, "max value", "defaultRequest", it.DefaultRequest)
	ordered(req, def, "default limit value", "defaultRequest", it.DefaultRequest)
	ordered(least, def, "default value", "default", it.Min)
	ordered(def, most, "max value", "default", it.Max)
	errs = append(errs, validateRatio(it, name, path.Child("maxLimitRequestRatio").Key(string(name)))...)
	d, ok1 := it.Default[name]
	r, ok2 := it.DefaultRequest[name]
	if !podspec.Overcommit(name) && ok1 && ok2 && d.Cmp(r) != 0 {
		errs = append(errs, field.Invalid(path.Child("defaultRequest").Key(string(name)), r, fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", d.String(), r.String(), name)))
	}
	return errs
}

// validateRatio: a limit may be at least its request, and no ratio helps that most and least do not allow.
func validateRatio(it *corev1.LimitRangeItem, name corev1.ResourceName, path *field.Path) field.ErrorList {
	ratio, ok := it.MaxLimitRequestRatio[name]
	if !ok {
		return nil
	}
	var errs field.ErrorList
	if ratio.Cmp(*apiresource.NewQuantity(1, apiresource.DecimalSI)) < 0 {
		errs = append(errs, field.Invalid(path, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
	}
	least, ok1 := it.Min[name]
	most, ok2 := it.Max[name]
	if !ok1 || !ok2 {
		return errs
	}
	value, limit := float64(ratio.Value()), float64(most.Value())/float64(least.Value())
	if ratio.Value() < apiresource.MaxMilliValue && least.Value() < apiresource.MaxMilliValue && most.Value() < apiresource.MaxMilliValue {
		value, limit = float64(ratio.MilliValue())/1000, float64(most.MilliValue())/float64(least.MilliValue())
	}
	if value > limit {
		errs = append(errs, field.Invalid(path, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), limit)))
	}
	return errs
}
