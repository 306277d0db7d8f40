package apiextensions

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition finds a condition, or nil.
func Condition(d *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) *apiextensionsv1.CustomResourceDefinitionCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == kind {
			return &d.Status.Conditions[i]
		}
	}
	return nil
}

// IsTrue says whether a condition is there and true.
func IsTrue(d *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	c := Condition(d, kind)
	return c != nil && c.Status == apiextensionsv1.ConditionTrue
}

// SetCondition adds a condition or changes the one of its type; the time moves only with the status.
func SetCondition(d *apiextensionsv1.CustomResourceDefinition, c apiextensionsv1.CustomResourceDefinitionCondition, now metav1.Time) {
	c.LastTransitionTime = now
	old := Condition(d, c.Type)
	if old == nil {
		d.Status.Conditions = append(d.Status.Conditions, c)
		return
	}
	if old.Status == c.Status && !old.LastTransitionTime.IsZero() {
		c.LastTransitionTime = old.LastTransitionTime
	}
	old.Status, old.Reason, old.Message, old.LastTransitionTime = c.Status, c.Reason, c.Message, c.LastTransitionTime
}
