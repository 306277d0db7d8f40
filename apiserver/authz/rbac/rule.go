package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kogge-dev/kogge/apiserver/request"
)

// allows says whether one of the rules allows a request.
func allows(rules []rbacv1.PolicyRule, i *request.Info) bool {
	for n := range rules {
		if ruleAllows(&rules[n], i) {
			return true
		}
	}
	return false
}

func ruleAllows(r *rbacv1.PolicyRule, i *request.Info) bool {
	if !has(r.Verbs, rbacv1.VerbAll, i.Verb) {
		return false
	}
	if !i.IsResource {
		return slices.ContainsFunc(r.NonResourceURLs, func(u string) bool { return matchesURL(u, i.Path) })
	}
	return has(r.APIGroups, rbacv1.APIGroupAll, i.Group) && matchesResource(r.Resources, i) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, i.Name))
}

func has(list []string, all, one string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return s == all || s == one })
}

// matchesResource: "*" is everything, "pods/log" a subresource, "*/scale" that of every resource.
func matchesResource(list []string, i *request.Info) bool {
	for _, s := range list {
		if s == rbacv1.ResourceAll {
			return true
		}
		resource, sub, _ := strings.Cut(s, "/")
		if sub == i.Subresource && (resource == i.Resource || resource == "*" && sub != "") {
			return true
		}
	}
	return false
}

// matchesURL: "*" is everything, "/healthz/*" what begins so.
func matchesURL(pattern, path string) bool {
	if pattern == rbacv1.NonResourceAll || pattern == path {
		return true
	}
	prefix, ok := strings.CutSuffix(pattern, "*")
	return ok && strings.HasPrefix(path, strings.TrimRight(prefix, "*"))
}
