package configuration

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// validateArguments says what is wrong with a plugin's arguments.
func validateArguments(path *field.Path, object runtime.Object) (errs []error) {
	switch args := object.(type) {
	case *configv1.DefaultPreemptionArgs:
		return validatePreemption(path, args)
	case *configv1.InterPodAffinityArgs:
		return between(path.Child("hardPodAffinityWeight"), *args.HardPodAffinityWeight, 0, 100)
	case *configv1.NodeAffinityArgs:
		return validateAddedAffinity(path.Child("addedAffinity"), args.AddedAffinity)
	case *configv1.NodeResourcesBalancedAllocationArgs:
		return validateBalanced(path.Child("resources"), args.Resources)
	case *configv1.PodTopologySpreadArgs:
		return validateSpread(path, args)
	case *configv1.VolumeBindingArgs:
		if *args.BindTimeoutSeconds < 0 {
			errs = append(errs, field.Invalid(path.Child("bindTimeoutSeconds"), *args.BindTimeoutSeconds, "invalid BindTimeoutSeconds, should not be a negative value"))
		}
		return append(errs, validateShape(path.Child("shape"), args.Shape)...)
	}
	return nil
}

func between(path *field.Path, value, least, most int32) []error {
	if value < least || value > most {
		return []error{field.Invalid(path, value, fmt.Sprintf("not in valid range [%d, %d]", least, most))}
	}
	return nil
}

func validatePreemption(path *field.Path, args *configv1.DefaultPreemptionArgs) []error {
	percentagePath, absolutePath := path.Child("minCandidateNodesPercentage"), path.Child("minCandidateNodesAbsolute")
	percentage, absolute := *args.MinCandidateNodesPercentage, *args.MinCandidateNodesAbsolute
	errs := between(percentagePath, percentage, 0, 100)
	if absolute < 0 {
		errs = append(errs, field.Invalid(absolutePath, absolute, "not in valid range [0, inf)"))
	}
	if percentage == 0 && absolute == 0 {
		errs = append(errs, field.Invalid(percentagePath, percentage, "cannot be zero at the same time as minCandidateNodesAbsolute"),
			field.Invalid(absolutePath, absolute, "cannot be zero at the same time as minCandidateNodesPercentage"))
	}
	return errs
}

func validateAddedAffinity(path *field.Path, added *corev1.NodeAffinity) (errs []error) {
	if added == nil {
		return nil
	}
	if required := added.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		if _, err := nodeaffinity.NewNodeSelector(required, field.WithPath(path.Child("requiredDuringSchedulingIgnoredDuringExecution"))); err != nil {
			errs = append(errs, err)
		}
	}
	if preferred := added.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		if _, err := nodeaffinity.NewPreferredSchedulingTerms(preferred, field.WithPath(path.Child("preferredDuringSchedulingIgnoredDuringExecution"))); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func validateBalanced(path *field.Path, resources []configv1.ResourceSpec) (errs []error) {
	seen := map[string]bool{}
	for i, resource := range resources {
		if seen[resource.Name] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), resource.Name))
		}
		seen[resource.Name] = true
		if resource.Weight != 1 {
			errs = append(errs, field.Invalid(path.Index(i).Child("weight"), resource.Weight, "must be 1"))
		}
	}
	return errs
}

func each(list field.ErrorList) (errs []error) {
	for _, err := range list {
		errs = append(errs, err)
	}
	return errs
}

func validateShape(path *field.Path, shape []configv1.UtilizationShapePoint) (errs []error) {
	if len(shape) == 0 {
		return []error{field.Required(path, "at least one point must be specified")}
	}
	for i := 1; i < len(shape); i++ {
		if shape[i-1].Utilization >= shape[i].Utilization {
			errs = append(errs, field.Invalid(path.Index(i).Child("utilization"), shape[i].Utilization, "values must be sorted in increasing order"))
			break
		}
	}
	for i, point := range shape {
		errs = append(errs, between(path.Index(i).Child("utilization"), point.Utilization, 0, 100)...)
		errs = append(errs, between(path.Index(i).Child("score"), point.Score, 0, MaxCustomScore)...)
	}
	return errs
}

func validateSpread(path *field.Path, args *configv1.PodTopologySpreadArgs) (errs []error) {
	switch kind, at := args.DefaultingType, path.Child("defaultingType"); {
	case kind != configv1.SystemDefaulting && kind != configv1.ListDefaulting:
		errs = append(errs, field.NotSupported(at, kind, []string{string(configv1.SystemDefaulting), string(configv1.ListDefaulting)}))
	case kind == configv1.SystemDefaulting && len(args.DefaultConstraints) > 0:
		errs = append(errs, field.Invalid(at, kind, "when .defaultConstraints are not empty"))
	}
	list := path.Child("defaultConstraints")
	seen := map[string]bool{}
	for i := range args.DefaultConstraints {
		c, at := &args.DefaultConstraints[i], list.Index(i)
		errs = append(errs, validateConstraint(at, c)...)
		same := fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable)
		if seen[same] {
			errs = append(errs, field.Duplicate(at, same))
		}
		seen[same] = true
	}
	return errs
}

func validateConstraint(path *field.Path, c *corev1.TopologySpreadConstraint) (errs []error) {
	if c.MaxSkew <= 0 {
		errs = append(errs, field.Invalid(path.Child("maxSkew"), c.MaxSkew, "not in valid range (0, inf)"))
	}
	if c.TopologyKey == "" {
		errs = append(errs, field.Required(path.Child("topologyKey"), "can not be empty"))
	} else {
		errs = append(errs, each(metav1validation.ValidateLabelName(c.TopologyKey, path.Child("topologyKey")))...)
	}
	switch at := path.Child("whenUnsatisfiable"); c.WhenUnsatisfiable {
	case corev1.DoNotSchedule, corev1.ScheduleAnyway:
	case "":
		errs = append(errs, field.Required(at, "can not be empty"))
	default:
		errs = append(errs, field.NotSupported(at, c.WhenUnsatisfiable, []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}))
	}
	if c.LabelSelector != nil {
		errs = append(errs, field.Forbidden(path.Child("labelSelector"), "constraint must not define a selector, as they deduced for each pod"))
	}
	return errs
}
