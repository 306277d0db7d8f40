package quota

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

var operators = map[corev1.ScopeSelectorOperator]selection.Operator{
	corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
	corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
}

// matches says that one of the values meets the selector; without any, that their absence does.
func matches(selector corev1.ScopedResourceSelectorRequirement, values ...string) (bool, error) {
	operator, ok := operators[selector.Operator]
	if !ok {
		return false, fmt.Errorf("failed to parse and convert selector: %q is not a valid scope selector operator", selector.Operator)
	}
	requirement, err := labels.NewRequirement(string(selector.ScopeName), operator, selector.Values)
	if err != nil {
		return false, fmt.Errorf("failed to parse and convert selector: %w", err)
	}
	if len(values) == 0 {
		return requirement.Matches(labels.Set{}), nil
	}
	for _, value := range values {
		if requirement.Matches(labels.Set{string(selector.ScopeName): value}) {
			return true, nil
		}
	}
	return false, nil
}
