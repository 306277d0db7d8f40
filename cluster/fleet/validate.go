package fleet

import (
	"errors"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/cluster/stages"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

// validate finds what no node could be made of, or what would be overlooked, before anything starts.
func (c Configuration) validate() error {
	_, err := c.PodRules()
	failures := []error{checkNumber(c.Nodes), err, c.Template.validate(field.NewPath("template")).ToAggregate()}
	for i, rule := range c.Rules {
		failures = append(failures, simulated.ValidateAnnotations(rule.Annotations, field.NewPath("rules").Index(i).Child("annotations")).ToAggregate())
	}
	for i := range c.Stages {
		failures = append(failures, stages.Validate(c.Stages[i]))
	}
	return errors.Join(failures...)
}

// validate finds the same in what a program asks for.
func (o Options) validate() error {
	errs := o.Template.validate(field.NewPath("template"))
	for i, rule := range o.Rules {
		errs = append(errs, simulated.ValidateAnnotations(rule.Annotations, field.NewPath("rules").Index(i).Child("annotations"))...)
	}
	return errs.ToAggregate()
}

// validate judges by the rules that the API server has for nodes, whose registration would fail again and again.
func (t NodeTemplate) validate(path *field.Path) field.ErrorList {
	errs := validation.ValidateLabels(t.Labels, path.Child("labels"))
	for _, name := range slices.Sorted(maps.Keys(t.Capacity)) {
		quantity, at := t.Capacity[name], path.Child("capacity").Key(string(name))
		for _, message := range utilvalidation.IsQualifiedName(string(name)) {
			errs = append(errs, field.Invalid(at, name, message))
		}
		if quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(at, quantity.String(), "must be greater than or equal to 0"))
		}
	}
	for i, taint := range t.Taints {
		errs = append(errs, validateTaint(taint, path.Child("taints").Index(i))...)
	}
	for _, message := range utilvalidation.IsValidLabelValue(t.Region) {
		errs = append(errs, field.Invalid(path.Child("region"), t.Region, message))
	}
	for i, zone := range t.Zones {
		for _, message := range utilvalidation.IsValidLabelValue(zone) {
			errs = append(errs, field.Invalid(path.Child("zones").Index(i), zone, message))
		}
	}
	for _, message := range utilvalidation.IsDNS1123Subdomain(t.Name(MostNodes)) {
		errs = append(errs, field.Invalid(path.Child("prefix"), t.Prefix, message))
	}
	return errs
}

func validateTaint(taint corev1.Taint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range utilvalidation.IsQualifiedName(taint.Key) {
		errs = append(errs, field.Invalid(path.Child("key"), taint.Key, message))
	}
	for _, message := range utilvalidation.IsValidLabelValue(taint.Value) {
		errs = append(errs, field.Invalid(path.Child("value"), taint.Value, message))
	}
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if !slices.Contains(effects, taint.Effect) {
		errs = append(errs, field.NotSupported(path.Child("effect"), taint.Effect, effects))
	}
	return errs
}
