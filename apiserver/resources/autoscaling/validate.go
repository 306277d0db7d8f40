package autoscaling

import (
	"errors"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Longest windows of behaviour, in seconds.
const (
	maxPeriod        = 1800
	maxStabilization = 3600
)

var specPath = field.NewPath("spec")

// validate judges a spec; old is nil when it is new. References of old that were wrong may stay.
func validate(s, old *autoscalingv2.HorizontalPodAutoscalerSpec) field.ErrorList {
	var errs field.ErrorList
	if n := s.MinReplicas; n != nil && s.MaxReplicas < *n {
		errs = append(errs, field.Invalid(specPath.Child("maxReplicas"), s.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	target := s.ScaleTargetRef
	v := versionRule{anyGroup: target.Kind == "ReplicationController"}
	v.any = old != nil && old.ScaleTargetRef.APIVersion == target.APIVersion && old.ScaleTargetRef.Kind == target.Kind
	errs = append(errs, validateReference(target, v, specPath.Child("scaleTargetRef"))...)
	errs = append(errs, validateMetrics(s, old)...)
	if b := s.Behavior; b != nil {
		errs = append(errs, validateRules(b.ScaleUp, specPath.Child("behavior", "scaleUp"))...)
		errs = append(errs, validateRules(b.ScaleDown, specPath.Child("behavior", "scaleDown"))...)
	}
	errs = append(errs, rules.NotNegativePtr(specPath.Child("minReplicas"), s.MinReplicas)...)
	if s.MaxReplicas == 0 {
		return append(errs, field.Required(specPath.Child("maxReplicas"), ""))
	}
	return append(errs, rules.AtLeast(specPath.Child("maxReplicas"), s.MaxReplicas, 1)...)
}

// versionRule is how strictly a reference's apiVersion is read.
type versionRule struct{ anyGroup, any bool }

func (v versionRule) check(apiVersion string) error {
	if v.any {
		return nil
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err == nil && !v.anyGroup && gv.Group == "" {
		return errors.New("apiVersion must specify API group")
	}
	return err
}

func validateReference(r autoscalingv2.CrossVersionObjectReference, v versionRule, path *field.Path) field.ErrorList {
	errs := append(segment(r.Kind, path.Child("kind"), ""), segment(r.Name, path.Child("name"), "")...)
	if err := v.check(r.APIVersion); err != nil {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), r.APIVersion, err.Error()))
	}
	return errs
}

// segment demands a name that fits into a path.
func segment(name string, path *field.Path, text string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, text)}
	}
	return rules.Invalid(path, name, content.IsPathSegmentName(name))
}

func validateMetrics(s, old *autoscalingv2.HorizontalPodAutoscalerSpec) field.ErrorList {
	v := versionRule{anyGroup: true}
	if old != nil {
		v.any = slices.ContainsFunc(old.Metrics, func(m autoscalingv2.MetricSpec) bool {
			return m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil && v.check(m.Object.DescribedObject.APIVersion) != nil
		})
	}
	var errs field.ErrorList
	path, fromOutside := specPath.Child("metrics"), false
	for i := range s.Metrics {
		m := &s.Metrics[i]
		errs = append(errs, validateMetric(m, v, path.Index(i))...)
		fromOutside = fromOutside || m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	}
	if s.MinReplicas != nil && *s.MinReplicas == 0 && !fromOutside {
		errs = append(errs, field.Forbidden(path, "must specify at least one Object or External metric to support scaling to zero replicas"))
	}
	return errs
}

var metricTypes = []autoscalingv2.MetricSourceType{
	autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType, autoscalingv2.ObjectMetricSourceType,
	autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType,
}

// source is where a metric of one type comes from.
type source struct {
	kind     autoscalingv2.MetricSourceType
	name     string
	set      bool
	validate func(path *field.Path) field.ErrorList
}

func validateMetric(m *autoscalingv2.MetricSpec, v versionRule, path *field.Path) field.ErrorList {
	sources := []source{
		{autoscalingv2.ObjectMetricSourceType, "object", m.Object != nil, func(p *field.Path) field.ErrorList { return validateObject(m.Object, v, p) }},
		{autoscalingv2.ExternalMetricSourceType, "external", m.External != nil, func(p *field.Path) field.ErrorList { return validateExternal(m.External, p) }},
		{autoscalingv2.PodsMetricSourceType, "pods", m.Pods != nil, func(p *field.Path) field.ErrorList { return validatePods(m.Pods, p) }},
		{autoscalingv2.ResourceMetricSourceType, "resource", m.Resource != nil, func(p *field.Path) field.ErrorList { return validateResource(m.Resource, p) }},
		{autoscalingv2.ContainerResourceMetricSourceType, "containerResource", m.ContainerResource != nil, func(p *field.Path) field.ErrorList {
			return validateContainerResource(m.ContainerResource, p)
		}},
	}
	var errs field.ErrorList
	known := slices.Contains(metricTypes, m.Type)
	if m.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), "must specify a metric source type"))
	}
	if !known {
		errs = append(errs, field.NotSupported(path.Child("type"), m.Type, metricTypes))
	}
	var present []source
	for _, s := range sources {
		if s.set {
			if present = append(present, s); len(present) == 1 {
				errs = append(errs, s.validate(path.Child(s.name))...)
			}
		}
	}
	for _, s := range sources {
		if s.kind == m.Type && !s.set {
			errs = append(errs, field.Required(path.Child(s.name), "must populate information for the given metric source"))
		}
	}
	if len(present) == 1 {
		return errs
	}
	for _, s := range present {
		if s.kind != m.Type {
			errs = append(errs, field.Forbidden(path.Child(s.name), "must populate the given metric source only"))
		}
	}
	return errs
}

func validateObject(s *autoscalingv2.ObjectMetricSource, v versionRule, path *field.Path) field.ErrorList {
	errs := validateReference(s.DescribedObject, v, path.Child("describedObject"))
	errs = append(errs, segment(s.Metric.Name, path.Child("metric", "name"), "must specify a metric name")...)
	errs = append(errs, validateTarget(&s.Target, path.Child("target"))...)
	if s.Target.Value == nil && s.Target.AverageValue == nil {
		errs = append(errs, field.Required(path.Child("target", "averageValue"), "must set either a target value or averageValue"))
	}
	return errs
}

func validateExternal(s *autoscalingv2.ExternalMetricSource, path *field.Path) field.ErrorList {
	errs := segment(s.Metric.Name, path.Child("metric", "name"), "must specify a metric name")
	errs = append(errs, validateTarget(&s.Target, path.Child("target"))...)
	switch {
	case s.Target.Value == nil && s.Target.AverageValue == nil:
		errs = append(errs, field.Required(path.Child("target", "averageValue"), "must set either a target value for metric or a per-pod target"))
	case s.Target.Value != nil && s.Target.AverageValue != nil:
		errs = append(errs, field.Forbidden(path.Child("target", "value"), "may not set both a target value for metric and a per-pod target"))
	}
	return errs
}

func validatePods(s *autoscalingv2.PodsMetricSource, path *field.Path) field.ErrorList {
	errs := segment(s.Metric.Name, path.Child("metric", "name"), "must specify a metric name")
	errs = append(errs, validateTarget(&s.Target, path.Child("target"))...)
	if s.Target.AverageValue == nil {
		errs = append(errs, field.Required(path.Child("target", "averageValue"), "must specify a positive target averageValue"))
	}
	return errs
}

func validateResource(s *autoscalingv2.ResourceMetricSource, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "must specify a resource name"))
	}
	return append(errs, validateUtilization(&s.Target, path.Child("target"))...)
}

func validateContainerResource(s *autoscalingv2.ContainerResourceMetricSource, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "must specify a resource name"))
	} else {
		errs = append(errs, podspec.ValidateContainerResource(s.Name, path.Child("name"))...)
	}
	if s.Container == "" {
		errs = append(errs, field.Required(path.Child("container"), "must specify a container"))
	} else {
		errs = append(errs, rules.Invalid(path.Child("container"), s.Container, validation.IsDNS1123Label(s.Container))...)
	}
	return append(errs, validateUtilization(&s.Target, path.Child("target"))...)
}

func validateUtilization(t *autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	errs := validateTarget(t, path)
	switch {
	case t.AverageUtilization == nil && t.AverageValue == nil:
		errs = append(errs, field.Required(path.Child("averageUtilization"), "must set either a target raw value or a target utilization"))
	case t.AverageUtilization != nil && t.AverageValue != nil:
		errs = append(errs, field.Forbidden(path.Child("averageValue"), "may not set both a target raw value and a target utilization"))
	}
	return errs
}

func validateTarget(t *autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), "must specify a metric target type"))
	}
	if t.Type != autoscalingv2.UtilizationMetricType && t.Type != autoscalingv2.ValueMetricType && t.Type != autoscalingv2.AverageValueMetricType {
		errs = append(errs, field.Invalid(path.Child("type"), t.Type, "must be either Utilization, Value, or AverageValue"))
	}
	if t.Value != nil && t.Value.Sign() != 1 {
		errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be positive"))
	}
	if t.AverageValue != nil && t.AverageValue.Sign() != 1 {
		errs = append(errs, field.Invalid(path.Child("averageValue"), t.AverageValue, "must be positive"))
	}
	if n := t.AverageUtilization; n != nil && *n < 1 {
		errs = append(errs, field.Invalid(path.Child("averageUtilization"), n, "must be greater than 0"))
	}
	return errs
}

func validateRules(r *autoscalingv2.HPAScalingRules, path *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	at := path.Child("stabilizationWindowSeconds")
	switch n := r.StabilizationWindowSeconds; {
	case n == nil:
	case *n < 0:
		errs = append(errs, field.Invalid(at, n, "must be greater than or equal to zero"))
	case *n > maxStabilization:
		errs = append(errs, field.Invalid(at, n, fmt.Sprintf("must be less than or equal to %v", maxStabilization)))
	}
	selects := []autoscalingv2.ScalingPolicySelect{autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect}
	if r.SelectPolicy != nil {
		errs = append(errs, rules.Among(path.Child("selectPolicy"), *r.SelectPolicy, selects...)...)
	}
	if len(r.Policies) == 0 {
		errs = append(errs, field.Required(path.Child("policies"), "must specify at least one Policy"))
	}
	for i := range r.Policies {
		errs = append(errs, validatePolicy(&r.Policies[i], path.Child("policies").Index(i))...)
	}
	if q := r.Tolerance; q != nil && q.Sign() < 0 {
		errs = append(errs, field.Invalid(path.Child("tolerance"), q.String(), rules.NotNegativeText))
	}
	return errs
}

func validatePolicy(p *autoscalingv2.HPAScalingPolicy, path *field.Path) field.ErrorList {
	errs := rules.Among(path.Child("type"), p.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)
	if p.Value <= 0 {
		errs = append(errs, field.Invalid(path.Child("value"), p.Value, rules.PositiveText))
	}
	switch {
	case p.PeriodSeconds <= 0:
		errs = append(errs, field.Invalid(path.Child("periodSeconds"), p.PeriodSeconds, rules.PositiveText))
	case p.PeriodSeconds > maxPeriod:
		errs = append(errs, field.Invalid(path.Child("periodSeconds"), p.PeriodSeconds, fmt.Sprintf("must be less than or equal to %v", maxPeriod)))
	}
	return errs
}

func validateStatus(s *autoscalingv2.HorizontalPodAutoscalerStatus) field.ErrorList {
	path := field.NewPath("status")
	var errs field.ErrorList
	for i, c := range s.Conditions {
		errs = append(errs, rules.NotNegativePtr(path.Child("conditions").Index(i).Child("observedGeneration"), c.ObservedGeneration)...)
	}
	errs = append(errs, rules.NotNegative(path.Child("currentReplicas"), s.CurrentReplicas)...)
	return append(errs, rules.NotNegative(path.Child("desiredReplicas"), s.DesiredReplicas)...)
}
