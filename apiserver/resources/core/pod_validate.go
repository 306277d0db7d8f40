package core

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/goform"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

// changeable are the fields that an update of a pod may change, as its refusal lists them.
const changeable = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodCreate judges a new pod: nothing has been added to it yet, and what waits is placed nowhere.
func validatePodCreate(p *corev1.Pod) field.ErrorList {
	errs := podspec.ValidatePod(&p.Spec, &p.ObjectMeta, podSpecPath)
	if len(p.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(podSpecPath.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if p.Spec.NodeName != "" && len(p.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(podSpecPath.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

// validatePodUpdate: a pod's spec stays as it is, but for its images and a few numbers.
func validatePodUpdate(p, old *corev1.Pod) field.ErrorList {
	errs := podspec.ValidatePod(&p.Spec, &p.ObjectMeta, podSpecPath)
	for _, list := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", p.Spec.Containers, old.Spec.Containers}, {"initContainers", p.Spec.InitContainers, old.Spec.InitContainers}} {
		if len(list.now) != len(list.was) {
			return append(errs, field.Forbidden(podSpecPath.Child(list.name), "pod updates may not add or remove containers"))
		}
	}
	if err := validateDeadlineChange(p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds); err != nil {
		return append(errs, err)
	}
	errs = append(errs, validateAddedTolerations(p.Spec.Tolerations, old.Spec.Tolerations)...)
	errs = append(errs, validateRemovedGates(p, old)...)
	if equality.Semantic.DeepEqual(p.Spec, old.Spec) {
		return errs
	}
	spec := unchangedBut(p, old)
	if len(old.Spec.SchedulingGates) > 0 {
		errs = append(errs, narrowPlacement(spec, &old.Spec)...)
	}
	if !equality.Semantic.DeepEqual(*spec, old.Spec) {
		errs = append(errs, field.Forbidden(podSpecPath, "pod updates may not change fields other than "+changeable+"\n"+goform.Diff(old.Spec, *spec)))
	}
	return errs
}

// unchangedBut is the new spec with every changeable field put back.
func unchangedBut(p, old *corev1.Pod) *corev1.PodSpec {
	s := p.Spec.DeepCopy()
	for i := range s.Containers {
		s.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range s.InitContainers {
		s.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	s.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	s.SchedulingGates, s.Tolerations = old.Spec.SchedulingGates, old.Spec.Tolerations
	was, now := old.Spec.TerminationGracePeriodSeconds, s.TerminationGracePeriodSeconds
	if was != nil && *was < 0 && now != nil && *now == 1 {
		s.TerminationGracePeriodSeconds = was
	}
	return s
}

// narrowPlacement: a pod that waits may be told more narrowly where it belongs. It judges that and puts it back.
func narrowPlacement(now, was *corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	if !onlyAdds(now.NodeSelector, was.NodeSelector) {
		errs = append(errs, field.Invalid(podSpecPath.Child("nodeSelector"), now.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
	}
	now.NodeSelector = was.NodeSelector
	before, after := nodeAffinity(was), nodeAffinity(now)
	if equality.Semantic.DeepEqual(before, after) {
		return errs
	}
	errs = append(errs, narrowAffinity(before, after, podSpecPath.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"))...)
	switch a := now.Affinity; {
	case a == nil:
		now.Affinity = &corev1.Affinity{NodeAffinity: before}
	case was.Affinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil:
		now.Affinity = nil
	default:
		a.NodeAffinity = before
	}
	return errs
}

func nodeAffinity(s *corev1.PodSpec) *corev1.NodeAffinity {
	if s.Affinity == nil {
		return nil
	}
	return s.Affinity.NodeAffinity
}

func requiredTerms(a *corev1.NodeAffinity) []corev1.NodeSelectorTerm {
	if a == nil || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// narrowAffinity: one of the terms must be met, so only more conditions in each make it narrower.
func narrowAffinity(before, after *corev1.NodeAffinity, path *field.Path) field.ErrorList {
	was, now := requiredTerms(before), requiredTerms(after)
	if len(was) == 0 {
		return nil
	}
	if len(was) != len(now) {
		return field.ErrorList{field.Invalid(path, goform.Of(now), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	var errs field.ErrorList
	for i := range was {
		if !narrower(&now[i], &was[i]) {
			errs = append(errs, field.Invalid(path.Index(i), goform.Of(now[i]), "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// narrower: a term without any condition meets no node, so adding one would widen it.
func narrower(now, was *corev1.NodeSelectorTerm) bool {
	if len(was.MatchExpressions)+len(was.MatchFields) == 0 {
		return len(now.MatchExpressions)+len(now.MatchFields) == 0
	}
	return begins(now.MatchExpressions, was.MatchExpressions) && begins(now.MatchFields, was.MatchFields)
}

func begins(now, was []corev1.NodeSelectorRequirement) bool {
	return len(now) >= len(was) && (len(was) == 0 || equality.Semantic.DeepEqual(now[:len(was)], was))
}

func onlyAdds(now, was map[string]string) bool {
	for k, v := range was {
		if w, ok := now[k]; !ok || w != v {
			return false
		}
	}
	return true
}

func validateDeadlineChange(now, was *int64) *field.Error {
	path := podSpecPath.Child("activeDeadlineSeconds")
	switch {
	case now == nil && was != nil:
		return field.Invalid(path, now, "must not update from a positive integer to nil value")
	case now == nil:
		return nil
	case *now < 0 || *now > math.MaxInt32:
		return field.Invalid(path, *now, validation.InclusiveRangeError(0, math.MaxInt32))
	case was != nil && *was < *now:
		return field.Invalid(path, *now, "must be less than or equal to previous value")
	}
	return nil
}

func validateAddedTolerations(now, was []corev1.Toleration) field.ErrorList {
	for _, t := range was {
		t.TolerationSeconds = nil
		kept := slices.ContainsFunc(now, func(n corev1.Toleration) bool {
			n.TolerationSeconds = nil
			return n == t
		})
		if !kept {
			return field.ErrorList{field.Forbidden(podSpecPath.Child("tolerations"), "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}

func validateRemovedGates(p, old *corev1.Pod) field.ErrorList {
	var errs field.ErrorList
	for i, g := range p.Spec.SchedulingGates {
		if !slices.Contains(old.Spec.SchedulingGates, g) {
			errs = append(errs, field.Forbidden(podSpecPath.Child("schedulingGates").Index(i).Child("name"), "only deletion is allowed, but found new scheduling gate '"+g.Name+"'"))
		}
	}
	return errs
}

// validatePodStatus: the node is given once, and an ended container stays ended where the policy says so.
func validatePodStatus(p, old *corev1.Pod) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("status")
	if n := p.Status.NominatedNodeName; n != "" {
		for _, text := range apivalidation.NameIsDNSSubdomain(n, false) {
			errs = append(errs, field.Invalid(path.Child("nominatedNodeName"), n, text))
		}
		if old.Spec.NodeName != "" && old.Status.NominatedNodeName == "" {
			errs = append(errs, field.Forbidden(path.Child("nominatedNodeName"), "may not be set on pods that are already bound to a node"))
		}
	}
	if q := old.Status.QOSClass; q != "" && p.Status.QOSClass != q {
		errs = append(errs, field.Invalid(path.Child("qosClass"), p.Status.QOSClass, "field is immutable"))
	}
	errs = append(errs, validateRestarts(p.Status.ContainerStatuses, old.Status.ContainerStatuses, old.Spec.RestartPolicy, path.Child("containerStatuses"))...)
	for i, ip := range p.Status.PodIPs {
		errs = append(errs, validation.IsValidIP(path.Child("podIPs").Index(i), ip.IP)...)
	}
	if ips := p.Status.HostIPs; len(ips) > 0 && ips[0].IP != p.Status.HostIP {
		errs = append(errs, field.Invalid(path.Child("hostIPs").Index(0).Child("ip"), ips[0].IP, "must be equal to `hostIP`"))
	}
	return errs
}

func validateRestarts(now, was []corev1.ContainerStatus, policy corev1.RestartPolicy, path *field.Path) field.ErrorList {
	if policy == corev1.RestartPolicyAlways {
		return nil
	}
	var errs field.ErrorList
	for _, o := range was {
		if o.State.Terminated == nil || (policy == corev1.RestartPolicyOnFailure && o.State.Terminated.ExitCode != 0) {
			continue
		}
		for i, n := range now {
			if n.Name == o.Name && n.State.Terminated == nil {
				errs = append(errs, field.Forbidden(path.Index(i).Child("state"), "may not be transitioned to non-terminated state"))
			}
		}
	}
	return errs
}
