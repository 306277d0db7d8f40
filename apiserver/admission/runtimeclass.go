package admission

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// runtimeClass gives pods the overhead, node selector and tolerations of their runtime class.
func runtimeClass(objects Objects) plugin {
	return plugin{name: "RuntimeClass",
		mutate: func(_ context.Context, a *registry.Attributes) error {
			pod, class, err := classOfPod(objects, a)
			if err != nil || class == nil {
				return err
			}
			if err := setOverhead(a, pod, class); err != nil {
				return err
			}
			return setScheduling(a, pod, class)
		},
		validate: func(_ context.Context, a *registry.Attributes) error {
			pod, class, err := classOfPod(objects, a)
			switch {
			case err != nil || pod == nil:
				return err
			case class != nil && class.Overhead != nil:
				if !apiequality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
					return forbiddenf(a, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
				}
			case pod.Spec.Overhead != nil:
				return forbiddenf(a, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
			}
			return nil
		}}
}

// classOfPod gives the pod that is created, and its class; both may be nil.
func classOfPod(objects Objects, a *registry.Attributes) (*corev1.Pod, *nodev1.RuntimeClass, error) {
	pod, ok := podToCreate(a)
	if !ok {
		return nil, nil, nil
	}
	if pod.Spec.RuntimeClassName == nil {
		return pod, nil, nil
	}
	obj, err := objects.Get(nodev1.GroupName, "runtimeclasses", "", *pod.Spec.RuntimeClassName)
	if apierrors.IsNotFound(err) {
		return pod, nil, forbiddenf(a, "pod rejected: RuntimeClass %q not found", *pod.Spec.RuntimeClassName)
	}
	if err != nil {
		return pod, nil, err
	}
	return pod, obj.(*nodev1.RuntimeClass), nil
}

func setOverhead(a *registry.Attributes, pod *corev1.Pod, class *nodev1.RuntimeClass) error {
	if class.Overhead == nil {
		return nil
	}
	if len(pod.Spec.Overhead) > 0 && !apiequality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
		return forbiddenf(a, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
	}
	pod.Spec.Overhead = class.Overhead.PodFixed.DeepCopy()
	return nil
}

func setScheduling(a *registry.Attributes, pod *corev1.Pod, class *nodev1.RuntimeClass) error {
	if class.Scheduling == nil {
		return nil
	}
	for key, value := range class.Scheduling.NodeSelector {
		if own, ok := pod.Spec.NodeSelector[key]; ok && own != value {
			return forbiddenf(a, "conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, own)
		}
	}
	if pod.Spec.NodeSelector == nil && class.Scheduling.NodeSelector != nil {
		pod.Spec.NodeSelector = map[string]string{}
	}
	maps.Copy(pod.Spec.NodeSelector, class.Scheduling.NodeSelector)
	pod.Spec.Tolerations = mergeTolerations(pod.Spec.Tolerations, class.Scheduling.Tolerations)
	return nil
}

// mergeTolerations joins two lists, without those that another covers; of equal ones the first stays.
func mergeTolerations(first, second []corev1.Toleration) []corev1.Toleration {
	all := append(append([]corev1.Toleration(nil), first...), second...)
	var merged []corev1.Toleration
	for i := range all {
		covered := false
		for j := range merged {
			covered = covered || covers(&merged[j], &all[i])
		}
		for j := i + 1; j < len(all); j++ {
			covered = covered || !apiequality.Semantic.DeepEqual(&all[i], &all[j]) && covers(&all[j], &all[i])
		}
		if !covered {
			merged = append(merged, all[i])
		}
	}
	return merged
}

// covers says whether whatever t tolerates, wide tolerates too.
func covers(wide, t *corev1.Toleration) bool {
	switch {
	case apiequality.Semantic.DeepEqual(wide, t):
		return true
	case t.Key != wide.Key && (wide.Key != "" || wide.Operator != corev1.TolerationOpExists):
		return false
	case t.Effect != wide.Effect && wide.Effect != "":
		return false
	case wide.Effect == corev1.TaintEffectNoExecute && wide.TolerationSeconds != nil &&
		(t.TolerationSeconds == nil || *t.TolerationSeconds > *wide.TolerationSeconds):
		return false
	}
	switch wide.Operator {
	case corev1.TolerationOpEqual, "":
		return t.Operator == corev1.TolerationOpEqual && t.Value == wide.Value
	case corev1.TolerationOpExists:
		return true
	}
	return false
}
