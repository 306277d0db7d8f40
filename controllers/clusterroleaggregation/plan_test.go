package clusterroleaggregation

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	role := func(name, label string, resources ...string) rbacv1.ClusterRole {
		r := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"to": label}}}
		for _, resource := range resources {
			r.Rules = append(r.Rules, rbacv1.PolicyRule{Verbs: []string{"get"}, Resources: []string{resource}})
		}
		return r
	}
	view := role("view", "view", "old")
	view.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{
		{MatchLabels: map[string]string{"to": "view"}}, {MatchLabels: map[string]string{"to": "more"}}}}
	rules, err := Decide(&view, []rbacv1.ClusterRole{role("z", "view", "pods"), role("a", "view", "pods", "secrets"), view, role("m", "more", "nodes"), role("n", "", "jobs")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rule := range rules {
		got = append(got, rule.Resources...)
	}
	if fmt.Sprint(got) != "[pods secrets nodes]" {
		t.Errorf("rules %v", got)
	}
}
