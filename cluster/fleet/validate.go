package fleet

import (
	"errors"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
		failures = append(failures, validateRule(i, rule.Annotations).ToAggregate())
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
		errs = append(errs, validateRule(i, rule.Annotations)...)
	}
	return errs.ToAggregate()
}

func validateRule(i int, annotations map[string]string) field.ErrorList {
	return simulated.ValidateAnnotations(annotations, field.NewPath("rules").Index(i).Child("annotations"))
}

// validate judges by the rules that the API server has for nodes, whose registration would fail again and again.
func (t NodeTemplate) validate(path *field.Path) field.ErrorList {
	errs := validation.ValidateLabels(t.Labels, path.Child("labels"))
	if _, set := t.Labels[corev1.LabelHostname]; set {
		errs = append(errs, field.Forbidden(path.Child("labels").Key(corev1.LabelHostname), "each node has its own name there"))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Capacity)) {
		errs = append(errs, validateCapacity(name, t.Capacity[name], path.Child("capacity").Key(string(name)))...)
	}
	for i, taint := range t.Taints {
		at := path.Child("taints").Index(i)
		errs = append(errs, validateTaint(taint, at)...)
		if slices.ContainsFunc(t.Taints[:i], func(before corev1.Taint) bool { return before.MatchTaint(&taint) }) {
			errs = append(errs, field.Duplicate(at, taint.ToString()))
		}
	}
	for _, message := range utilvalidation.IsValidLabelValue(t.Region) {
		errs = append(errs, field.Invalid(path.Child("region"), t.Region, message))
	}
	for i, zone := range t.Zones {
		for _, message := range utilvalidation.IsValidLabelValue(zone) {
			errs = append(errs, field.Invalid(path.Child("zones").Index(i), zone, message))
		}
	}
	last := t.Name(MostNodes) // which is a label's value too
	for _, message := range append(utilvalidation.IsDNS1123Subdomain(last), utilvalidation.IsValidLabelValue(last)...) {
		errs = append(errs, field.Invalid(path.Child("prefix"), t.Prefix, message))
	}
	return errs
}

// own are the resources without a domain in their names.
var own = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage}

func validateCapacity(name corev1.ResourceName, quantity resource.Quantity, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range utilvalidation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	native := slices.Contains(own, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	if !native && !strings.Contains(string(name), "/") {
		errs = append(errs, field.Invalid(path, name, "must be a standard resource for node, or be qualified by a domain"))
	}
	if quantity.Sign() < 0 {
		errs = append(errs, field.Invalid(path, quantity.String(), "must be greater than or equal to 0"))
	}
	if (!native || name == corev1.ResourcePods) && quantity.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(path, quantity.String(), "must be an integer"))
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
