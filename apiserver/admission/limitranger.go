package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	podresources "k8s.io/component-helpers/resource"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// limitRangerAnnotation tells what the plugin filled in.
const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// limitRanger gives containers what the namespace's LimitRanges say they get by default, and refuses pods and
// claims that ask for less or more than these allow.
func limitRanger(objects Objects) plugin {
	limits := func(a *registry.Attributes) ([]*corev1.LimitRange, error) {
		if !limited(a) {
			return nil, nil
		}
		list, err := listOf[*corev1.LimitRange](objects, "", "limitranges", a.Namespace)
		if err != nil {
			return nil, forbiddenf(a, "unable to %s %v at this time because there was an error enforcing limit ranges", a.Operation, a.Resource.GVR())
		}
		return list, nil
	}
	return plugin{name: "LimitRanger",
		mutate: func(_ context.Context, a *registry.Attributes) error {
			list, err := limits(a)
			if err != nil {
				return err
			}
			for _, l := range list {
				if pod, ok := a.Object.(*corev1.Pod); ok {
					fillLimits(pod, l)
				}
			}
			return nil
		},
		validate: func(_ context.Context, a *registry.Attributes) error {
			list, err := limits(a)
			if err != nil {
				return err
			}
			for _, l := range list {
				if err := checkLimits(a.Object, l); err != nil {
					return forbidden(a, err)
				}
			}
			return nil
		}}
}

// limited says whether LimitRanges concern a write: pods when they are created or resized, claims always.
func limited(a *registry.Attributes) bool {
	if a.Resource.Group != "" || a.Object == nil || a.Old != nil && a.Old.GetDeletionTimestamp() != nil {
		return false
	}
	switch a.Resource.Plural {
	case "pods":
		return a.Operation == registry.Create && a.Subresource == "" || a.Operation == registry.Update && a.Subresource == "resize"
	case "persistentvolumeclaims":
		return a.Subresource == "" && (a.Operation == registry.Create || a.Operation == registry.Update)
	}
	return false
}

// fillLimits gives containers the requests and limits that they lack.
func fillLimits(pod *corev1.Pod, l *corev1.LimitRange) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for _, item := range l.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			fill(requests, item.DefaultRequest)
			fill(limits, item.Default)
		}
	}
	var said []string
	for _, part := range []struct {
		name       string
		containers []corev1.Container
	}{{"container", pod.Spec.Containers}, {"init container", pod.Spec.InitContainers}} {
		for i := range part.containers {
			said = append(said, fillContainer(&part.containers[i], part.name, requests, limits)...)
		}
	}
	if len(said) == 0 {
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[limitRangerAnnotation] = "LimitRanger plugin set: " + strings.Join(said, "; ")
}

// fillContainer fills one container and says what it set.
func fillContainer(c *corev1.Container, kind string, requests, limits corev1.ResourceList) []string {
	if c.Resources.Limits == nil {
		c.Resources.Limits = corev1.ResourceList{}
	}
	if c.Resources.Requests == nil {
		c.Resources.Requests = corev1.ResourceList{}
	}
	setLimits, setRequests := fill(c.Resources.Limits, limits), fill(c.Resources.Requests, requests)
	var said []string
	if len(setRequests) > 0 {
		said = append(said, fmt.Sprintf("%s request for %s %s", strings.Join(setRequests, ", "), kind, c.Name))
	}
	if len(setLimits) > 0 {
		said = append(said, fmt.Sprintf("%s limit for %s %s", strings.Join(setLimits, ", "), kind, c.Name))
	}
	return said
}

// fill adds what a list lacks, and names it.
func fill(list, defaults corev1.ResourceList) []string {
	var set []string
	for name, q := range defaults {
		if _, ok := list[name]; !ok {
			list[name] = q.DeepCopy()
			set = append(set, string(name))
		}
	}
	slices.Sort(set)
	return set
}

// checkLimits judges a pod or a claim by one LimitRange.
func checkLimits(obj resource.Object, l *corev1.LimitRange) error {
	var errs []error
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		switch o := obj.(type) {
		case *corev1.Pod:
			errs = append(errs, checkPod(o, item)...)
		case *corev1.PersistentVolumeClaim:
			if item.Type == corev1.LimitTypePersistentVolumeClaim {
				errs = append(errs, checkClaim(o, item)...)
			}
		}
	}
	return utilerrors.NewAggregate(errs)
}

func checkPod(pod *corev1.Pod, item *corev1.LimitRangeItem) []error {
	var errs []error
	switch item.Type {
	case corev1.LimitTypeContainer:
		for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range list {
				errs = append(errs, checkItem(item, list[i].Resources.Requests, list[i].Resources.Limits)...)
			}
		}
	case corev1.LimitTypePod:
		o := podresources.PodResourcesOptions{ExcludeOverhead: true}
		errs = checkItem(item, podresources.PodRequests(pod, o), podresources.PodLimits(pod, o))
	}
	return errs
}

// checkItem judges requests and limits by an item's minimum, maximum and ratio.
func checkItem(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) []error {
	var errs []error
	for name, q := range item.Min {
		errs = append(errs, atLeast(string(item.Type), name, q, requests, limits))
	}
	for name, q := range item.Max {
		errs = append(errs, atMost(string(item.Type), name, q, requests, limits))
	}
	for name, q := range item.MaxLimitRequestRatio {
		errs = append(errs, ratioAtMost(string(item.Type), name, q, requests, limits))
	}
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// checkClaim judges what a claim asks for; claims have no limits.
func checkClaim(claim *corev1.PersistentVolumeClaim, item *corev1.LimitRangeItem) []error {
	requests := claim.Spec.Resources.Requests
	var errs []error
	for name, q := range item.Min {
		errs = append(errs, atLeast(string(item.Type), name, q, requests, nil))
	}
	for name, q := range item.Max {
		errs = append(errs, requestAtMost(string(item.Type), name, q, requests))
	}
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}
