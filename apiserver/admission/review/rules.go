package review

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Rules select writes.
type Rules struct {
	Rules []admissionv1.NamedRuleWithOperations
	// Exact: only the version that was asked for counts; otherwise every version of the same objects does.
	Exact bool
}

// Select gives the resource, in the version that a rule names, or nil when none selects the write. The version that the
// client used comes first.
func (s *Subject) Select(r Rules) *resource.Resource {
	for i := range r.Rules {
		if s.selects(&r.Rules[i], s.Resource) {
			return s.Resource
		}
	}
	if r.Exact {
		return nil
	}
	versions := s.World.Versions(s.Resource)
	for i := range r.Rules {
		for _, v := range versions {
			if v != s.Resource && (s.Subresource == "" || v.Sub(s.Subresource) != nil) && s.selects(&r.Rules[i], v) {
				return v
			}
		}
	}
	return nil
}

func (s *Subject) selects(r *admissionv1.NamedRuleWithOperations, as *resource.Resource) bool {
	return s.inScope(r.Scope) && holds(r.Operations, admissionv1.OperationType(s.Operation)) &&
		holds(r.APIGroups, as.Group) && holds(r.APIVersions, as.Version) && s.isResource(r.Resources, as.Plural) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, s.ObjectName()))
}

// holds says whether a list has an item or the wildcard.
func holds[T ~string](list []T, item T) bool {
	return slices.Contains(list, item) || slices.Contains(list, "*")
}

func (s *Subject) inScope(scope *admissionv1.ScopeType) bool {
	if scope == nil || *scope == admissionv1.AllScopes {
		return true
	}
	cluster := s.isNamespace() || s.NamespaceName() == ""
	switch *scope {
	case admissionv1.NamespacedScope:
		return !cluster
	case admissionv1.ClusterScope:
		return cluster
	}
	return false
}

func (s *Subject) isResource(list []string, plural string) bool {
	return slices.ContainsFunc(list, func(item string) bool {
		name, sub, _ := strings.Cut(item, "/")
		return (name == "*" || name == plural) && (sub == "*" || sub == s.Subresource)
	})
}
