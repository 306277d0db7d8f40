package review_test

import (
	"context"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// world has one namespace, and events in two versions.
type world struct{}

func (world) Namespace(_ context.Context, name string) (*corev1.Namespace, error) {
	if name != "n" {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"team": "a"}}}, nil
}

func (world) Versions(r *resource.Resource) []*resource.Resource {
	if r == events {
		return []*resource.Resource{events, newEvents}
	}
	return []*resource.Resource{r}
}

var (
	maps       = define("", "v1", "configmaps", "ConfigMap", true)
	events     = define("", "v1", "events", "Event", true)
	newEvents  = define("events.k8s.io", "v1", "events", "Event", true)
	namespaces = define("", "v1", "namespaces", "Namespace", false)
	nodes      = define("", "v1", "nodes", "Node", false)
)

func define(group, version, plural, kind string, namespaced bool) *resource.Resource {
	return &resource.Resource{Name: resource.Name{Group: group, Version: version, Plural: plural, Kind: kind, Namespaced: namespaced},
		Subresources: []resource.Subresource{{Name: "status"}}}
}

func subject(r *resource.Resource, a registry.Attributes) *review.Subject {
	a.Resource = r
	if a.Operation == "" {
		a.Operation = registry.Create
	}
	if a.Name == "" {
		a.Name = "x"
	}
	if a.Object == nil {
		a.Object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: a.Name, Labels: map[string]string{"app": "x"}}}
	}
	if r.Namespaced && a.Namespace == "" {
		a.Namespace = "n"
	}
	return review.New(request.WithUser(context.Background(), &request.User{Name: "u"}), &a, world{})
}

func rule(change func(*admissionv1.NamedRuleWithOperations)) admissionv1.NamedRuleWithOperations {
	r := admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{"*"}, Rule: admissionv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
	}}
	change(&r)
	return r
}

func TestRules(t *testing.T) {
	t.Parallel()
	type named = admissionv1.NamedRuleWithOperations
	for _, c := range []struct {
		name string
		s    *review.Subject
		rule named
		want *resource.Resource
	}{
		{"everything", subject(maps, registry.Attributes{}), rule(func(*named) {}), maps},
		{"another group", subject(maps, registry.Attributes{}), rule(func(r *named) { r.APIGroups = []string{"apps"} }), nil},
		{"another version", subject(maps, registry.Attributes{}), rule(func(r *named) { r.APIVersions = []string{"v2"} }), nil},
		{"another operation", subject(maps, registry.Attributes{}), rule(func(r *named) { r.Operations = []admissionv1.OperationType{"UPDATE", "DELETE"} }), nil},
		{"another name", subject(maps, registry.Attributes{}), rule(func(r *named) { r.ResourceNames = []string{"y"} }), nil},
		{"its name", subject(maps, registry.Attributes{}), rule(func(r *named) { r.ResourceNames = []string{"y", "x"} }), maps},
		{"a subresource is not meant", subject(maps, registry.Attributes{Subresource: "status"}), rule(func(*named) {}), nil},
		{"all subresources", subject(maps, registry.Attributes{Subresource: "status"}), rule(func(r *named) { r.Resources = []string{"configmaps/*"} }), maps},
		{"one of all", subject(maps, registry.Attributes{Subresource: "status"}), rule(func(r *named) { r.Resources = []string{"*/status"} }), maps},
		{"cluster scope", subject(maps, registry.Attributes{}), rule(func(r *named) { r.Scope = ptr.To(admissionv1.ClusterScope) }), nil},
		{"a namespace is of the cluster", subject(namespaces, registry.Attributes{Namespace: "x"}), rule(func(r *named) { r.Scope = ptr.To(admissionv1.ClusterScope) }), namespaces},
		{"and in no namespace", subject(namespaces, registry.Attributes{Namespace: "x"}), rule(func(r *named) { r.Scope = ptr.To(admissionv1.NamespacedScope) }), nil},
		{"an equivalent version", subject(events, registry.Attributes{}), rule(func(r *named) { r.APIGroups = []string{"events.k8s.io"} }), newEvents},
		{"its own version comes first", subject(events, registry.Attributes{}), rule(func(*named) {}), events},
	} {
		if got := c.s.Select(review.Rules{Rules: []named{c.rule}}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	exact := review.Rules{Exact: true, Rules: []named{rule(func(r *named) { r.APIGroups = []string{"events.k8s.io"} })}}
	if got := subject(events, registry.Attributes{}).Select(exact); got != nil {
		t.Errorf("exact: %v", got)
	}
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	labels := func(kv ...string) *metav1.LabelSelector {
		s := &metav1.LabelSelector{}
		for i := 0; i < len(kv); i += 2 {
			metav1.AddLabelToSelector(s, kv[i], kv[i+1])
		}
		return s
	}
	labelled := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new", Labels: map[string]string{"team": "b"}}}
	was := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "old"}}}
	for _, c := range []struct {
		name              string
		s                 *review.Subject
		namespace, object *metav1.LabelSelector
		matches, fails    bool
	}{
		{"both empty", subject(maps, registry.Attributes{}), labels(), labels(), true, false},
		{"namespace", subject(maps, registry.Attributes{}), labels("team", "a"), labels(), true, false},
		{"another namespace", subject(maps, registry.Attributes{}), labels("team", "b"), labels(), false, false},
		{"no such namespace", subject(maps, registry.Attributes{Namespace: "gone"}), labels("team", "b"), labels(), false, true},
		{"what is in no namespace", subject(nodes, registry.Attributes{}), labels("team", "b"), labels(), true, false},
		{"a namespace itself", subject(namespaces, registry.Attributes{Name: "new", Object: labelled}), labels("team", "b"), labels(), true, false},
		{"object", subject(maps, registry.Attributes{}), labels(), labels("app", "x"), true, false},
		{"as it was", subject(maps, registry.Attributes{Operation: registry.Update, Old: was}), labels(), labels("app", "old"), true, false},
		{"neither", subject(maps, registry.Attributes{Operation: registry.Update, Old: was}), labels(), labels("app", "y"), false, false},
	} {
		constraints := review.Constraints{All: true}
		constraints.SetSelectors(c.namespace, c.object)
		got, err := c.s.Match(t.Context(), &constraints)
		if (got != nil) != c.matches || (err != nil) != c.fails {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestExclude(t *testing.T) {
	t.Parallel()
	constraints := review.ConstraintsOf(&admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ExcludeResourceRules: []admissionv1.NamedRuleWithOperations{rule(func(r *admissionv1.NamedRuleWithOperations) { r.ResourceNames = []string{"free"} })}})
	for name, want := range map[string]*resource.Resource{"free": nil, "bound": maps} {
		if got, err := subject(maps, registry.Attributes{Name: name}).Match(t.Context(), &constraints); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestVersionsShareNothingWithTheirKind: the object under review keeps no kind, and a change replaces it.
func TestVersionsShareNothingWithTheirKind(t *testing.T) {
	t.Parallel()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Data: map[string]string{"a": "b"}}
	s := subject(maps, registry.Attributes{Object: object})
	v, err := s.Version(maps)
	if err != nil {
		t.Fatal(err)
	}
	if v.Object.GetObjectKind().GroupVersionKind() != maps.GVK() || object.Kind != "" {
		t.Errorf("%v, %q", v.Object.GetObjectKind().GroupVersionKind(), object.Kind)
	}
	v.Change(&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, Data: map[string]string{"c": "d"}})
	if err := s.Accept(v); err != nil {
		t.Fatal(err)
	}
	if object.Data["c"] != "d" || object.Kind != "" {
		t.Errorf("%+v", object)
	}
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*review.Subject{
		`configmaps "x" is forbidden: no`:       subject(maps, registry.Attributes{}),
		`configmaps "made-" is forbidden: no`:   review.New(t.Context(), &registry.Attributes{Resource: maps, Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "made-"}}}, world{}),
		`configmaps "Unknown" is forbidden: no`: review.New(t.Context(), &registry.Attributes{Resource: maps}, world{}),
	} {
		if got := s.Forbidden(context.Canceled).Error(); got != name[:len(name)-2]+"context canceled" {
			t.Error(got)
		}
	}
}
