package crd

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/internal/callout"
	"github.com/kogge-dev/kogge/apiserver/resources/apiextensions"
)

func named(plural, singular, kind string, short ...string) apiextensionsv1.CustomResourceDefinitionNames {
	return apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: singular, Kind: kind, ListKind: kind + "List", ShortNames: short}
}

func defined(group string, wanted, accepted apiextensionsv1.CustomResourceDefinitionNames) *customResourceDefinition {
	d := &customResourceDefinition{}
	d.Name = wanted.Plural + "." + group
	d.Spec.Group, d.Spec.Names, d.Status.AcceptedNames = group, wanted, accepted
	return d
}

// show writes the conditions as type=status/reason.
func show(d *customResourceDefinition) string {
	var out []string
	for _, c := range d.Status.Conditions {
		out = append(out, string(c.Type)+"="+string(c.Status)+"/"+c.Reason)
	}
	return strings.Join(out, " ")
}

func TestPlan(t *testing.T) {
	t.Parallel()
	foo, none := named("foos", "foo", "Foo", "fo"), apiextensionsv1.CustomResourceDefinitionNames{}
	other := defined("a.example", named("bars", "bar", "Bar", "fo"), named("bars", "bar", "Bar", "fo"))
	renamed := defined("a.example", named("foos", "bar", "Foo"), named("foos", "foo", "Foo"))
	apiextensions.SetCondition(renamed, condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted"}, metav1.Time{})
	for _, x := range []struct {
		name   string
		crd    *customResourceDefinition
		others []*customResourceDefinition
		want   string
		served bool
	}{
		{"alone", defined("a.example", foo, none), nil, "NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted", true},
		{"a short name is taken", defined("a.example", foo, none), []*customResourceDefinition{other}, "NamesAccepted=False/ShortNamesConflict Established=False/NotAccepted", false},
		{"a kind is taken", defined("a.example", named("foos", "foo", "Bar"), none), []*customResourceDefinition{other}, "NamesAccepted=False/ListKindConflict Established=False/NotAccepted", false},
		{"a new name is taken", renamed, []*customResourceDefinition{other}, "Established=True/InitialNamesAccepted NamesAccepted=False/SingularConflict", true},
		{"nobody approved", defined("a.k8s.io", foo, none), nil, "KubernetesAPIApprovalPolicyConformant=False/MissingAnnotation NamesAccepted=True/NoConflicts Established=True/InitialNamesAccepted", true},
	} {
		got := plan(x.crd, x.others, metav1.NewTime(time.Unix(1, 0)))
		if show(got) != x.want || toServe(got) != x.served {
			t.Errorf("%s: %s, served %v", x.name, show(got), toServe(got))
		}
		if again := plan(got, x.others, metav1.NewTime(time.Unix(2, 0))); show(again) != show(got) || again.Status.Conditions[0].LastTransitionTime != got.Status.Conditions[0].LastTransitionTime {
			t.Errorf("%s: a second look changes %s to %s", x.name, show(got), show(again))
		}
	}
}

func TestDeprecation(t *testing.T) {
	t.Parallel()
	d := &customResourceDefinition{}
	d.Spec.Group, d.Spec.Names = "a.example", named("foos", "foo", "Foo")
	own := "go away"
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Name: "v1alpha1", Served: true, Deprecated: true}, {Name: "v1", Served: true, Storage: true}, {Name: "v1beta1", Served: true},
		{Name: "v2", Served: true, Deprecated: true, DeprecationWarning: &own}, {Name: "v3", Deprecated: true}}
	def, err := newDefinition(d, callout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"v1alpha1": "a.example/v1alpha1 Foo is deprecated; use a.example/v1 Foo", "v1": "", "v2": "go away", "v3": "a.example/v3 Foo is deprecated",
	} {
		if got := def.versions[name].deprecation(); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestIdentifier(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"crd-publish.example.com": "crdPublishExampleCom", "v1": "v1", "2a.b": "A.b"} {
		if got := identifier(s, false); got != strings.ReplaceAll(want, ".b", "B") {
			t.Errorf("%s: %s", s, got)
		}
	}
	for noun, want := range map[string]string{"Class": " a ", "Apple": " an ", "Shoes": " "} {
		if got := article(noun); got != want {
			t.Errorf("%s: %q", noun, got)
		}
	}
}
