package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// priority gives pods the number that their class stands for, and sees to it that one class at most is the default.
func priority(objects Objects) plugin {
	return plugin{name: "Priority",
		mutate: func(_ context.Context, a *registry.Attributes) error {
			if !isCore(a, "pods") {
				return nil
			}
			switch a.Operation {
			case registry.Create:
				return newPriority(objects, a, a.Object.(*corev1.Pod))
			case registry.Update:
				keepPriority(a.Object.(*corev1.Pod), a.Old.(*corev1.Pod))
			}
			return nil
		},
		validate: func(_ context.Context, a *registry.Attributes) error {
			class, ok := a.Object.(*schedulingv1.PriorityClass)
			if !ok || a.Subresource != "" || !class.GlobalDefault || a.Operation == registry.Delete {
				return nil
			}
			present, err := defaultPriorityClass(objects)
			if err != nil {
				return apierrors.NewInternalError(fmt.Errorf("failed to get default priority class: %w", err))
			}
			if present != nil && (a.Operation == registry.Create || present.Name != class.Name) {
				return forbiddenf(a, "PriorityClass %v is already marked as default. Only one default can exist", present.Name)
			}
			return nil
		}}
}

// newPriority sets what the pod's class says. What the pod says itself must be the same.
func newPriority(objects Objects, a *registry.Attributes, pod *corev1.Pod) error {
	class, err := priorityClassOf(objects, a, pod.Spec.PriorityClassName)
	if err != nil {
		return err
	}
	pod.Spec.PriorityClassName = class.Name
	if p := pod.Spec.Priority; p != nil && *p != class.Value {
		return forbiddenf(a, "the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *p, class.Value)
	}
	pod.Spec.Priority = ptr.To(class.Value)
	if class.PreemptionPolicy == nil {
		return nil
	}
	if p := pod.Spec.PreemptionPolicy; p != nil && *p != *class.PreemptionPolicy {
		return forbiddenf(a, "the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *p, *class.PreemptionPolicy)
	}
	pod.Spec.PreemptionPolicy = ptr.To(*class.PreemptionPolicy)
	return nil
}

// keepPriority keeps what an update leaves out.
func keepPriority(pod, old *corev1.Pod) {
	if pod.Spec.Priority == nil {
		pod.Spec.Priority = old.Spec.Priority
	}
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = old.Spec.PreemptionPolicy
	}
}

// priorityClassOf finds the class of a name. Without a name it is the default class, or else one without a name that is worth nothing.
func priorityClassOf(objects Objects, a *registry.Attributes, name string) (*schedulingv1.PriorityClass, error) {
	if name == "" {
		class, err := defaultPriorityClass(objects)
		if err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("error occurred while retrieving default priority class: %w", err))
		}
		if class == nil {
			class = &schedulingv1.PriorityClass{PreemptionPolicy: ptr.To(corev1.PreemptLowerPriority)}
		}
		return class, nil
	}
	obj, err := objects.Get(schedulingv1.GroupName, "priorityclasses", "", name)
	if apierrors.IsNotFound(err) {
		return nil, forbiddenf(a, "no PriorityClass with name %v was found", name)
	}
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("failed to resolve PriorityClass with name %s: %w", name, err))
	}
	return obj.(*schedulingv1.PriorityClass), nil
}

// defaultPriorityClass finds the class of pods that name none: of several, the lowest. Nil: there is none.
func defaultPriorityClass(objects Objects) (*schedulingv1.PriorityClass, error) {
	list, err := listOf[*schedulingv1.PriorityClass](objects, schedulingv1.GroupName, "priorityclasses", "")
	if err != nil {
		return nil, err
	}
	var lowest *schedulingv1.PriorityClass
	for _, c := range list {
		if c.GlobalDefault && (lowest == nil || c.Value < lowest.Value) {
			lowest = c
		}
	}
	return lowest, nil
}
