package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

// resize is the endpoint by which the resources of a pod that runs are changed.
func resize() resource.Subresource {
	h := resource.Erase(resource.Strategy[*corev1.Pod]{
		PrepareForUpdate: func(_ context.Context, p, old *corev1.Pod) {
			keepButResources(p, old)
			podspec.DefaultPodResources(&p.Spec)
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		},
		ValidateUpdate: func(_ context.Context, p, old *corev1.Pod) field.ErrorList { return validateResize(p, old) },
	})
	return resource.Subresource{Name: "resize", Verbs: []string{"get", "patch", "update"}, Hooks: &h}
}

// keepButResources drops from a change what is no resource. Where containers come, go or change places it drops nothing: that is refused later.
func keepButResources(p, old *corev1.Pod) {
	if len(p.Spec.Containers) != len(old.Spec.Containers) || len(p.Spec.InitContainers) != len(old.Spec.InitContainers) {
		return
	}
	spec := old.Spec.DeepCopy()
	spec.Containers = withResources(p.Spec.Containers, spec.Containers)
	spec.InitContainers = withResources(p.Spec.InitContainers, spec.InitContainers)
	if p.Spec.Resources != nil {
		spec.Resources = p.Spec.Resources
	}
	p.Spec, p.Status = *spec, *old.Status.DeepCopy()
	metav1.ResetObjectMetaForStatus(&p.ObjectMeta, &old.ObjectMeta)
}

func withResources(now, was []corev1.Container) []corev1.Container {
	for i := range now {
		if now[i].Name != was[i].Name {
			return now
		}
	}
	for i := range now {
		was[i].Resources, was[i].ResizePolicy = now[i].Resources, now[i].ResizePolicy
	}
	return was
}

// validateResize judges a change of resources: of processors and memory alone, and so that the pod stays in its class.
func validateResize(p, old *corev1.Pod) field.ErrorList {
	switch {
	case old.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return field.ErrorList{field.Forbidden(field.NewPath(""), "static pods cannot be resized")}
	case old.Spec.OS != nil && old.Spec.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(field.NewPath(""), "windows pods cannot be resized")}
	}
	errs := podspec.ValidatePod(&p.Spec, &p.ObjectMeta, podSpecPath)
	class := old.Status.QOSClass
	if class == "" {
		class = podspec.QOS(&old.Spec)
	}
	if class != podspec.QOS(&p.Spec) {
		errs = append(errs, field.Invalid(podSpecPath, p.Status.QOSClass, "Pod QOS Class may not change as a result of resizing"))
	}
	if !resizable(&old.Status) {
		errs = append(errs, field.Forbidden(podSpecPath, "Pod running on node without support for resize"))
	}
	rest := p.Spec.DeepCopy()
	errs = append(errs, validateWholeResize(rest, &old.Spec)...)
	if moved := validateSameContainers(p, old); len(moved) > 0 {
		return append(errs, moved...)
	}
	errs = append(errs, validateRemoved(p, old)...)
	errs = append(errs, validateOnlyCompute(rest, &old.Spec)...)
	if len(errs) == 0 && !equality.Semantic.DeepEqual(*rest, old.Spec) {
		errs = append(errs, field.Forbidden(podSpecPath, "only cpu and memory resources are mutable"))
	}
	return errs
}

// resizable: a kubelet that can resize tells the resources of the containers that run.
func resizable(s *corev1.PodStatus) bool {
	for _, c := range s.ContainerStatuses {
		if c.State.Running != nil {
			return c.Resources != nil
		}
	}
	return true
}

// validateWholeResize judges the resources of the pod as a whole, and puts them back where they may have changed.
func validateWholeResize(now, was *corev1.PodSpec) field.ErrorList {
	if !hasResources(now.Resources) && !hasResources(was.Resources) {
		return nil
	}
	path := podSpecPath.Child("resources")
	if was.Resources != nil && now.Resources == nil {
		return field.ErrorList{field.Forbidden(path, "pod-level resources cannot be removed")}
	}
	var errs field.ErrorList
	before := corev1.ResourceRequirements{}
	if was.Resources != nil {
		before = *was.Resources
		if removed(now.Resources.Requests, before.Requests) {
			errs = append(errs, field.Forbidden(path.Child("requests"), "pod-level resource requests cannot be removed"))
		}
		if removed(now.Resources.Limits, before.Limits) {
			errs = append(errs, field.Forbidden(path.Child("limits"), "pod-level resource limits cannot be removed"))
		}
	}
	keepCompute(now.Resources, &before)
	if was.Resources == nil && !hasResources(now.Resources) && len(now.Resources.Claims) == 0 {
		now.Resources = nil
	}
	if !equality.Semantic.DeepEqual(now.Resources, was.Resources) {
		errs = append(errs, field.Forbidden(podSpecPath, "only cpu and memory resources are mutable at pod-level"))
	}
	return errs
}

func hasResources(r *corev1.ResourceRequirements) bool {
	return r != nil && len(r.Requests)+len(r.Limits) > 0
}

func validateSameContainers(p, old *corev1.Pod) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", p.Spec.Containers, old.Spec.Containers}, {"initContainers", p.Spec.InitContainers, old.Spec.InitContainers}} {
		path := podSpecPath.Child(list.name)
		if len(list.now) != len(list.was) {
			errs = append(errs, field.Forbidden(path, list.name+" may not be added or removed on resize"))
			continue
		}
		for i := range list.was {
			if list.now[i].Name != list.was[i].Name {
				errs = append(errs, field.Forbidden(path.Index(i).Child("name"), list.name+" may not be renamed or reordered on resize"))
			}
		}
	}
	return errs
}

// validateRemoved: what a container was promised may change, not go. Init containers that end have nothing left to resize.
func validateRemoved(p, old *corev1.Pod) field.ErrorList {
	var errs field.ErrorList
	judge := func(now, was *corev1.Container, at *field.Path) {
		if removed(now.Resources.Requests, was.Resources.Requests) {
			errs = append(errs, field.Forbidden(at.Child("requests"), "resource requests cannot be removed"))
		}
		if removed(now.Resources.Limits, was.Resources.Limits) {
			errs = append(errs, field.Forbidden(at.Child("limits"), "resource limits cannot be removed"))
		}
	}
	for i := range old.Spec.InitContainers {
		if sidecar(&old.Spec.InitContainers[i]) {
			judge(&p.Spec.InitContainers[i], &old.Spec.InitContainers[i], podSpecPath.Child("initContainers").Index(i).Child("resources"))
		}
	}
	for i := range old.Spec.Containers {
		judge(&p.Spec.Containers[i], &old.Spec.Containers[i], podSpecPath.Child("containers").Index(i).Child("resources"))
	}
	return errs
}

func sidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// validateOnlyCompute judges what else changed in containers, and puts back what may.
func validateOnlyCompute(now, was *corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	for i := range now.Containers {
		c, before := &now.Containers[i], &was.Containers[i]
		keepCompute(&c.Resources, &before.Resources)
		if !equality.Semantic.DeepEqual(*c, *before) {
			errs = append(errs, field.Forbidden(podSpecPath, "only cpu and memory resources are mutable"))
		}
	}
	for i := range now.InitContainers {
		c, before := &now.InitContainers[i], &was.InitContainers[i]
		if !sidecar(c) {
			if !equality.Semantic.DeepEqual(*c, *before) {
				errs = append(errs, field.Forbidden(podSpecPath, "resources for non-sidecar init containers are immutable"))
			}
			continue
		}
		keepCompute(&c.Resources, &before.Resources)
		if !equality.Semantic.DeepEqual(*c, *before) {
			errs = append(errs, field.Forbidden(podSpecPath.Child("initContainers").Index(i), "only cpu and memory resources for init or sidecar containers are mutable"))
		}
	}
	return errs
}

func removed(now, was corev1.ResourceList) bool {
	for name := range was {
		if _, ok := now[name]; !ok {
			return true
		}
	}
	return false
}

// keepCompute puts processors and memory back to what they were.
func keepCompute(now, was *corev1.ResourceRequirements) {
	now.Limits, now.Requests = computeOf(now.Limits, was.Limits), computeOf(now.Requests, was.Requests)
}

func computeOf(now, was corev1.ResourceList) corev1.ResourceList {
	if now == nil && was == nil {
		return nil
	}
	out := corev1.ResourceList{}
	for name, q := range now {
		out[name] = q
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		delete(out, name)
		if q, ok := was[name]; ok {
			out[name] = q
		}
	}
	return out
}
