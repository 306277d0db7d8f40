package plugins

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// siblings selects the pods that belong together with a pod: those of its services and of
// the set that controls it. It is empty when there are neither.
func (s *Sources) siblings(pod *corev1.Pod) labels.Selector {
	same := labels.Set{}
	services, err := s.services.Services(pod.Namespace).List(labels.Everything())
	if err != nil {
		services = nil // as if there were none
	}
	for _, service := range services {
		if len(service.Spec.Selector) > 0 && labels.SelectorFromValidatedSet(service.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			same = labels.Merge(same, service.Spec.Selector)
		}
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return same.AsSelector()
	}
	switch owner.APIVersion + " " + owner.Kind {
	case "v1 ReplicationController":
		if set, err := s.controllers.ReplicationControllers(pod.Namespace).Get(owner.Name); err == nil {
			same = labels.Merge(same, set.Spec.Selector)
		}
	case "apps/v1 ReplicaSet":
		if set, err := s.replicaSets.ReplicaSets(pod.Namespace).Get(owner.Name); err == nil {
			return and(same.AsSelector(), set.Spec.Selector)
		}
	case "apps/v1 StatefulSet":
		if set, err := s.statefulSets.StatefulSets(pod.Namespace).Get(owner.Name); err == nil {
			return and(same.AsSelector(), set.Spec.Selector)
		}
	}
	return same.AsSelector()
}

// and adds what another selector asks for, if it can be parsed.
func and(selector labels.Selector, more *metav1.LabelSelector) labels.Selector {
	parsed, err := metav1.LabelSelectorAsSelector(more)
	if err != nil {
		return selector
	}
	requirements, _ := parsed.Requirements()
	return selector.Add(requirements...)
}
