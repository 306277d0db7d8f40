package quota

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Evaluator measures the objects of one resource.
type Evaluator struct {
	Resource schema.GroupResource

	counts  func(corev1.ResourceName) bool
	usage   func(runtime.Object, time.Time) corev1.ResourceList
	inScope func(corev1.ScopedResourceSelectorRequirement, runtime.Object) (bool, error)
	demand  func([]corev1.ResourceName, runtime.Object) error
	updates func(subresource string, object, old runtime.Object) bool
}

// countPrefix begins the names by which a quota counts objects: count/deployments.apps.
const countPrefix = "count/"

// aliases are older names of what is counted, by the resource.
var aliases = map[string]corev1.ResourceName{
	"configmaps": corev1.ResourceConfigMaps, "resourcequotas": corev1.ResourceQuotas,
	"replicationcontrollers": corev1.ResourceReplicationControllers, "secrets": corev1.ResourceSecrets,
}

// ignored resources aren't stored, or have never been counted.
var ignored = map[schema.GroupResource]bool{
	{Resource: "bindings"}: true, {Resource: "componentstatuses"}: true, {Resource: "events"}: true,
	{Group: "events.k8s.io", Resource: "events"}:                           true,
	{Group: "authentication.k8s.io", Resource: "tokenreviews"}:             true,
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"}:       true,
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"}:      true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}:  true,
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}: true,
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"}:   true,
}

// Ignored says that no quota counts the resource.
func Ignored(resource schema.GroupResource) bool { return ignored[resource] }

// CountName is the name by which a quota counts the resource's objects.
func CountName(resource schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName(countPrefix + resource.String())
}

// For gives the resource's evaluator. Most are measured by their number alone.
func For(resource schema.GroupResource) Evaluator {
	switch resource {
	case schema.GroupResource{Resource: "pods"}:
		return pods
	case schema.GroupResource{Resource: "services"}:
		return services
	case schema.GroupResource{Resource: "persistentvolumeclaims"}:
		return volumeClaims
	case schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"}:
		return deviceClaims
	}
	names := []corev1.ResourceName{CountName(resource)}
	if alias, ok := aliases[resource.Resource]; ok && resource.Group == "" {
		names = append(names, alias)
	}
	return Evaluator{
		Resource: resource,
		counts:   func(name corev1.ResourceName) bool { return slices.Contains(names, name) },
		usage: func(runtime.Object, time.Time) corev1.ResourceList {
			one := corev1.ResourceList{}
			for _, name := range names {
				one[name] = number(1)
			}
			return one
		},
	}
}

// Measured gives the evaluators that a quota with these names needs, by resource, in order.
func Measured(names []corev1.ResourceName) []Evaluator {
	candidates := []Evaluator{pods, services, volumeClaims, deviceClaims}
	for resource := range aliases {
		candidates = append(candidates, For(schema.GroupResource{Resource: resource}))
	}
	for _, name := range names {
		if text, ok := strings.CutPrefix(string(name), countPrefix); ok {
			candidates = append(candidates, For(schema.ParseGroupResource(text)))
		}
	}
	var needed []Evaluator
	for _, candidate := range candidates {
		known := slices.ContainsFunc(needed, func(e Evaluator) bool { return e.Resource == candidate.Resource })
		if !known && !Ignored(candidate.Resource) && len(candidate.Counted(names)) > 0 {
			needed = append(needed, candidate)
		}
	}
	slices.SortFunc(needed, func(a, b Evaluator) int { return strings.Compare(a.Resource.String(), b.Resource.String()) })
	return needed
}

// Counted gives those of the names that are about this resource.
func (e Evaluator) Counted(names []corev1.ResourceName) []corev1.ResourceName {
	var counted []corev1.ResourceName
	for _, name := range names {
		if e.counts(name) {
			counted = append(counted, name)
		}
	}
	return counted
}

// CountsObjects says that the number of objects is all that is measured, so that their
// metadata is enough.
func (e Evaluator) CountsObjects() bool { return e.inScope == nil && e.updates == nil }

// Usage is what an object uses.
func (e Evaluator) Usage(object runtime.Object, now time.Time) corev1.ResourceList {
	return e.usage(object, now)
}

// Demand gives an error if the object leaves open what a quota over these names wants told.
func (e Evaluator) Demand(names []corev1.ResourceName, object runtime.Object) error {
	if e.demand == nil {
		return nil
	}
	return e.demand(names, object)
}

// ChargesUpdate says that an update may change what the object uses. Creation always does.
func (e Evaluator) ChargesUpdate(subresource string, object, old runtime.Object) bool {
	return e.updates != nil && e.updates(subresource, object, old)
}

// InScope says that an object is within all scopes of a quota.
func (e Evaluator) InScope(spec *corev1.ResourceQuotaSpec, object runtime.Object) (bool, error) {
	for _, selector := range selectors(spec) {
		if e.inScope == nil {
			return false, nil
		}
		if within, err := e.inScope(selector, object); err != nil || !within {
			return false, err
		}
	}
	return true, nil
}

// selectors gives the scopes of both forms as one.
func selectors(spec *corev1.ResourceQuotaSpec) []corev1.ScopedResourceSelectorRequirement {
	var all []corev1.ScopedResourceSelectorRequirement
	for _, scope := range spec.Scopes {
		all = append(all, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists})
	}
	if spec.ScopeSelector != nil {
		all = append(all, spec.ScopeSelector.MatchExpressions...)
	}
	return all
}
