package configuration

import (
	"fmt"
	"strings"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

var strategies = []string{string(configv1.LeastAllocated), string(configv1.MostAllocated), string(configv1.RequestedToCapacityRatio)}

// ValidateFit says what is wrong with the arguments of NodeResourcesFit. Upstream looks at
// them only when it makes the plugin, so paths begin with the arguments.
func ValidateFit(args *configv1.NodeResourcesFitArgs) error {
	var path *field.Path
	var errs []error

	for i, name := range args.IgnoredResources {
		errs = append(errs, each(metav1validation.ValidateLabelName(name, path.Child("ignoredResources").Index(i)))...)
	}
	for i, group := range args.IgnoredResourceGroups {
		at := path.Child("ignoredResourceGroups").Index(i)
		if strings.Contains(group, "/") {
			errs = append(errs, field.Invalid(at, group, "resource group name can't contain '/'"))
		}
		errs = append(errs, each(metav1validation.ValidateLabelName(group, at))...)
	}
	errs = append(errs, validateStrategy(path.Child("scoringStrategy"), args.ScoringStrategy)...)
	if joined := utilerrors.NewAggregate(errs); joined != nil {
		return joined
	}
	return nil
}

func validateStrategy(at *field.Path, strategy *configv1.ScoringStrategy) (errs []error) {
	known := false
	for _, name := range strategies {
		known = known || name == string(strategy.Type)
	}
	if !known {
		errs = append(errs, field.NotSupported(at.Child("type"), strategy.Type, strategies))
	}
	for i, resource := range strategy.Resources {
		if resource.Weight <= 0 || resource.Weight > 100 {
			errs = append(errs, field.Invalid(at.Child("resources").Index(i).Child("weight"), resource.Weight,
				fmt.Sprintf("resource weight of %v not in valid range (0, 100]", resource.Name)))
		}
	}
	ratio, ratioPath := strategy.RequestedToCapacityRatio, at.Child("requestedToCapacityRatio")
	switch {
	case strategy.Type == configv1.RequestedToCapacityRatio && ratio == nil:
		errs = append(errs, field.Required(ratioPath, "must be specified when type is RequestedToCapacityRatio"))
	case strategy.Type == configv1.RequestedToCapacityRatio:
		errs = append(errs, validateShape(ratioPath.Child("shape"), ratio.Shape)...)
	case ratio != nil:
		errs = append(errs, field.Forbidden(ratioPath, "must be nil when type is not RequestedToCapacityRatio"))
	}
	return errs
}
