package quota

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

var podCount = CountName(schema.GroupResource{Resource: "pods"})

// podNames are what a quota may say of pods, besides huge pages and extended resources.
var podNames = []corev1.ResourceName{
	podCount, corev1.ResourcePods,
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
}

// demanded are the names that, once under quota, every container must speak of. Upstream
// regrets it, and so do its users; no other name may be added.
var demanded = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
}

var pods = Evaluator{
	Resource: schema.GroupResource{Resource: "pods"},
	counts: func(name corev1.ResourceName) bool {
		return slices.Contains(podNames, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) ||
			strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix) || requestsExtended(name)
	},
	usage: func(object runtime.Object, now time.Time) corev1.ResourceList {
		return podUsage(object.(*corev1.Pod), now)
	},
	inScope: func(selector corev1.ScopedResourceSelectorRequirement, object runtime.Object) (bool, error) {
		return podInScope(selector, object.(*corev1.Pod))
	},
	demand: func(names []corev1.ResourceName, object runtime.Object) error {
		return podDemand(names, object.(*corev1.Pod))
	},
	updates: func(subresource string, object, old runtime.Object) bool {
		switch subresource {
		case "":
			return bounded(object.(*corev1.Pod)) != bounded(old.(*corev1.Pod))
		case "resize":
			return true
		}
		return false
	},
}

// requestsExtended says that the name is requests.X of an extended resource X.
func requestsExtended(name corev1.ResourceName) bool {
	text, ok := strings.CutPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
	return ok && (!native(name) || strings.HasPrefix(text, resourcev1.ResourceDeviceClassPrefix))
}

// native says that Kubernetes itself knows the resource.
func native(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}

// bounded says that the pod may run only for some time.
func bounded(pod *corev1.Pod) bool { return ptr.Deref(pod.Spec.ActiveDeadlineSeconds, -1) >= 0 }

// PodCharged says that a pod uses more than its place in the store: it hasn't ended, and
// isn't long overdue with its deletion.
func PodCharged(pod *corev1.Pod, now time.Time) bool {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return true
	}
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return !now.After(pod.DeletionTimestamp.Add(grace))
}

func podUsage(pod *corev1.Pod, now time.Time) corev1.ResourceList {
	used := corev1.ResourceList{podCount: number(1)}
	if !PodCharged(pod, now) {
		return used
	}
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	return Add(used, compute(resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options)))
}

// compute names requests and limits as a quota does.
func compute(requests, limits corev1.ResourceList) corev1.ResourceList {
	used := corev1.ResourceList{corev1.ResourcePods: number(1)}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if amount, ok := requests[name]; ok {
			used[name], used[corev1.DefaultResourceRequestsPrefix+name] = amount, amount
		}
		if amount, ok := limits[name]; ok {
			used["limits."+name] = amount
		}
	}
	for name, amount := range requests {
		switch text := string(name); {
		case strings.HasPrefix(text, corev1.ResourceHugePagesPrefix):
			used[name], used[corev1.DefaultResourceRequestsPrefix+name] = amount, amount
		case !native(name) && !strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix),
			strings.HasPrefix(text, resourcev1.ResourceDeviceClassPrefix):
			used[corev1.DefaultResourceRequestsPrefix+name] = amount
		}
	}
	return used
}

// podDemand lists what containers leave open, unless the pod speaks for all of them.
func podDemand(names []corev1.ResourceName, pod *corev1.Pod) error {
	if resourcehelper.IsPodLevelResourcesSet(pod) {
		return nil
	}
	open := map[corev1.ResourceName][]string{}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			told := compute(containers[i].Resources.Requests, containers[i].Resources.Limits)
			for _, name := range names {
				if _, ok := told[name]; !ok && slices.Contains(demanded, name) && !slices.Contains(open[name], containers[i].Name) {
					open[name] = append(open[name], containers[i].Name)
				}
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(open)) {
		slices.Sort(open[name])
		parts = append(parts, fmt.Sprintf("%s for: %s", name, strings.Join(open[name], ",")))
	}
	return errors.New("must specify " + strings.Join(parts, "; "))
}

func podInScope(selector corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod) (bool, error) {
	switch selector.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return bounded(pod), nil
	case corev1.ResourceQuotaScopeNotTerminating:
		return !bounded(pod), nil
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(pod), nil
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(pod), nil
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossesNamespaces(pod.Spec.Affinity), nil
	case corev1.ResourceQuotaScopePriorityClass:
		if pod.Spec.PriorityClassName == "" {
			return matches(selector)
		}
		return matches(selector, pod.Spec.PriorityClassName)
	}
	return false, nil
}

// bestEffort says that the pod asks for no CPU and no memory.
func bestEffort(pod *corev1.Pod) bool {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass == corev1.PodQOSBestEffort
	}
	if pod.Spec.Resources != nil && resourcehelper.IsPodLevelResourcesSet(pod) {
		return asksNothing(*pod.Spec.Resources)
	}
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			if !asksNothing(containers[i].Resources) {
				return false
			}
		}
	}
	return true
}

func asksNothing(r corev1.ResourceRequirements) bool {
	for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
		if !list.Cpu().IsZero() || !list.Memory().IsZero() {
			return false
		}
	}
	return true
}

// crossesNamespaces says that an affinity looks at pods of other namespaces.
func crossesNamespaces(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	weighted := func(preferred []corev1.WeightedPodAffinityTerm) {
		for i := range preferred {
			terms = append(terms, preferred[i].PodAffinityTerm)
		}
	}
	if a := affinity.PodAffinity; a != nil {
		terms = append(terms, a.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := affinity.PodAntiAffinity; a != nil {
		terms = append(terms, a.RequiredDuringSchedulingIgnoredDuringExecution...)
		weighted(a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(term corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	})
}
