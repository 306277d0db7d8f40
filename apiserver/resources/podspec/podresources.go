package podspec

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/resource"
)

func forWholePod(s *corev1.PodSpec) bool {
	return s.Resources != nil && len(s.Resources.Requests)+len(s.Resources.Limits) > 0
}

// sums are what a pod's containers ask for together.
func sums(s *corev1.PodSpec) (requests, limits corev1.ResourceList) {
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: s.Containers, InitContainers: s.InitContainers}}
	return resource.AggregateContainerRequests(p, resource.PodResourcesOptions{}), resource.AggregateContainerLimits(p, resource.PodResourcesOptions{})
}

// DefaultPodResources completes the resources of a pod as a whole from its containers'. It is done when a pod is created or resized, after
// whatever put containers in.
func DefaultPodResources(s *corev1.PodSpec) {
	if !forWholePod(s) {
		return
	}
	r := s.Resources
	requests, limits := sums(s)
	for name, q := range limits {
		if _, asked := r.Requests[name]; isHugePages(name) && !asked {
			setOnce(&r.Limits, name, q)
		}
	}
	for name, q := range requests {
		if resource.IsSupportedPodLevelResource(name) && Overcommit(name) {
			setOnce(&r.Requests, name, q)
		}
	}
	for name, q := range r.Limits {
		if resource.IsSupportedPodLevelResource(name) {
			setOnce(&r.Requests, name, q.DeepCopy())
		}
	}
	defaultPodLimits(s, limits)
}

// defaultPodLimits limits the whole pod where each of its containers is limited.
func defaultPodLimits(s *corev1.PodSpec, limits corev1.ResourceList) {
	for name, request := range s.Resources.Requests {
		if !resource.IsSupportedPodLevelResource(name) || !allLimited(s, name) {
			continue
		}
		limit, ok := limits[name]
		if !ok {
			continue
		}
		if request.Cmp(limit) > 0 {
			limit = request
		}
		setOnce(&s.Resources.Limits, name, limit)
	}
}

func allLimited(s *corev1.PodSpec, name corev1.ResourceName) bool {
	for _, c := range append(slices.Clone(s.Containers), s.InitContainers...) {
		if _, ok := c.Resources.Limits[name]; !ok {
			return false
		}
	}
	return true
}

func setOnce[Q any, M ~map[corev1.ResourceName]Q](l *M, name corev1.ResourceName, q Q) {
	if *l == nil {
		*l = M{}
	}
	if _, ok := (*l)[name]; !ok {
		(*l)[name] = q
	}
}

// validatePodResources judges the resources of a pod as a whole, and that its containers fit in.
func validatePodResources(s *corev1.PodSpec, claims sets.Set[string], p *field.Path) field.ErrorList {
	r := s.Resources
	if r == nil {
		return nil
	}
	if s.OS != nil && s.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(p, "may not be set for a windows pod")}
	}
	var errs field.ErrorList
	if r.Claims != nil {
		errs = append(errs, field.Forbidden(p.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, validateRequirements(r, podResourceName, p)...)
	errs = append(errs, validateUsedClaims(r.Claims, claims, p.Child("claims"))...)
	requests, limits := sums(s)
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		sum, whole := requests[name], r.Requests[name]
		if _, ok := r.Requests[name]; ok && sum.Cmp(whole) > 0 {
			errs = append(errs, field.Invalid(p.Child("requests").Key(string(name)), whole.String(), "must be greater than or equal to aggregate container requests of "+sum.String()))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		sum, whole := limits[name], r.Limits[name]
		if _, ok := r.Limits[name]; ok && isHugePages(name) && sum.Cmp(whole) > 0 {
			errs = append(errs, field.Invalid(p.Child("limits").Key(string(name)), whole.String(), "must be greater than or equal to aggregate container limits of "+sum.String()))
		}
	}
	for i, c := range s.Containers {
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			own, whole := c.Resources.Limits[name], r.Limits[name]
			if _, ok := r.Limits[name]; ok && own.Cmp(whole) > 0 {
				errs = append(errs, field.Invalid(p.Child("containers").Index(i).Key(string(name)).Child("limits"), own.String(), fmt.Sprintf("must be less than or equal to pod limits of %s", whole.String())))
			}
		}
	}
	return errs
}

// podResourceName demands a resource that a pod as a whole can have.
func podResourceName(name corev1.ResourceName, p *field.Path) field.ErrorList {
	if errs := ValidateResourceName(name, p); len(errs) > 0 {
		return errs
	}
	if !resource.IsSupportedPodLevelResource(name) {
		return field.ErrorList{field.NotSupported(p, name, sets.List(resource.SupportedPodLevelResources()))}
	}
	return nil
}
