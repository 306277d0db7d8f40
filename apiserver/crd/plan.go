package crd

import (
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kogge-dev/kogge/apiserver/resources/apiextensions"
)

type (
	customResourceDefinition = apiextensionsv1.CustomResourceDefinition
	condition                = apiextensionsv1.CustomResourceDefinitionCondition
)

// plan gives a definition with the status that it should have, judged beside the others of its group.
func plan(crd *customResourceDefinition, others []*customResourceDefinition, now metav1.Time) *customResourceDefinition {
	out := crd.DeepCopy()
	planApproval(out, now)
	planNames(out, takenBy(others), now)
	planStructure(out, now)
	planEstablished(out, now)
	return out
}

// taken are the names that a group's definitions have.
type taken struct{ resources, kinds map[string]bool }

func takenBy(crds []*customResourceDefinition) taken {
	t := taken{map[string]bool{}, map[string]bool{}}
	for _, d := range crds {
		n := d.Status.AcceptedNames
		for _, name := range append([]string{n.Plural, n.Singular}, n.ShortNames...) {
			t.resources[name] = true
		}
		t.kinds[n.Kind], t.kinds[n.ListKind] = true, true
	}
	return t
}

// planNames accepts the names that are free. Others keep what was accepted before.
func planNames(crd *customResourceDefinition, t taken, now metav1.Time) {
	wanted, accepted := crd.Spec.Names, &crd.Status.AcceptedNames
	if equality.Semantic.DeepEqual(wanted, *accepted) {
		return
	}
	c := condition{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found"}
	take := func(name string, have *string, used map[string]bool, reason string) {
		if name != *have && used[name] {
			c.Status, c.Reason, c.Message = apiextensionsv1.ConditionFalse, reason, inUse(name).Error()
			return
		}
		*have = name
	}
	take(wanted.Plural, &accepted.Plural, t.resources, "PluralConflict")
	take(wanted.Singular, &accepted.Singular, t.resources, "SingularConflict")
	if err := shortNamesFree(wanted.ShortNames, accepted.ShortNames, t.resources); err != nil {
		c.Status, c.Reason, c.Message = apiextensionsv1.ConditionFalse, "ShortNamesConflict", err.Error()
	} else {
		accepted.ShortNames = wanted.ShortNames
	}
	take(wanted.Kind, &accepted.Kind, t.kinds, "KindConflict")
	take(wanted.ListKind, &accepted.ListKind, t.kinds, "ListKindConflict")
	accepted.Categories = wanted.Categories
	set(crd, c, now)
	switch established := apiextensions.Condition(crd, apiextensionsv1.Established); {
	case established != nil && established.Status == apiextensionsv1.ConditionTrue:
	case c.Status == apiextensionsv1.ConditionTrue:
		set(crd, condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "Installing", Message: "the initial names have been accepted"}, now)
	case established == nil:
		set(crd, condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "NotAccepted", Message: "not all names are accepted"}, now)
	}
}

func inUse(name string) error { return fmt.Errorf("%q is already in use", name) }

func shortNamesFree(wanted, have []string, used map[string]bool) error {
	var errs []error
	for _, name := range wanted {
		if used[name] && !slices.Contains(have, name) {
			errs = append(errs, inUse(name))
		}
	}
	return utilerrors.NewAggregate(errs)
}

// planEstablished lets a definition be served once its names are accepted.
func planEstablished(crd *customResourceDefinition, now metav1.Time) {
	if !apiextensions.IsTrue(crd, apiextensionsv1.NamesAccepted) || apiextensions.IsTrue(crd, apiextensionsv1.Established) {
		return
	}
	c := condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted", Message: "the initial names have been accepted"}
	if w := crd.Spec.Conversion; w != nil && w.Webhook != nil && w.Webhook.ClientConfig != nil && apiextensions.BadBundle(w.Webhook.ClientConfig.CABundle) != nil {
		c.Status, c.Reason, c.Message = apiextensionsv1.ConditionFalse, "InvalidCABundle", "The conversion webhook CABundle is invalid"
	}
	set(crd, c, now)
}

// planApproval tells whether a protected group's definition was approved.
func planApproval(crd *customResourceDefinition, now metav1.Time) {
	approval, why := apiextensions.ApprovalOf(crd.Spec.Group, crd.Annotations)
	c := condition{Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: why}
	switch approval {
	case apiextensions.Unprotected:
		return
	case apiextensions.Approved:
		c.Status, c.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apiextensions.Bypassed:
		c.Reason = "UnapprovedAnnotation"
	case apiextensions.Missing:
		c.Reason = "MissingAnnotation"
	case apiextensions.Invalid:
		c.Reason = "InvalidAnnotation"
	}
	set(crd, c, now)
}

// planStructure tells what is not structural in the schemas.
func planStructure(crd *customResourceDefinition, now metav1.Time) {
	var errs field.ErrorList
	if crd.Spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "must be false"))
	}
	n, err := apiextensions.Internal(crd)
	if err != nil {
		return
	}
	for i, v := range crd.Spec.Versions {
		props, err := apiextensions.SchemaOf(n, v.Name)
		if err != nil || props == nil {
			continue
		}
		s, err := structuralschema.NewStructural(props)
		if err != nil {
			set(crd, condition{Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionUnknown, Reason: "StructuralError",
				Message: fmt.Sprintf("failed to check validation schema for version %s: %v", v.Name, err)}, now)
			return
		}
		errs = append(errs, structuralschema.ValidateStructural(field.NewPath("spec", "versions").Index(i).Child("schema", "openAPIV3Schema"), s)...)
	}
	if len(errs) == 0 {
		crd.Status.Conditions = slices.DeleteFunc(crd.Status.Conditions, func(c condition) bool { return c.Type == apiextensionsv1.NonStructuralSchema })
		return
	}
	set(crd, condition{Type: apiextensionsv1.NonStructuralSchema, Status: apiextensionsv1.ConditionTrue, Reason: "Violations", Message: errs.ToAggregate().Error()}, now)
}

func set(crd *customResourceDefinition, c condition, now metav1.Time) {
	apiextensions.SetCondition(crd, c, now)
}

// toServe says whether a definition is served, and whether what is served of another state of it still fits.
func toServe(crd *customResourceDefinition) bool {
	return apiextensions.IsTrue(crd, apiextensionsv1.NamesAccepted) || apiextensions.IsTrue(crd, apiextensionsv1.Established)
}

func servedAlike(a, b *customResourceDefinition) bool {
	return a.UID == b.UID && equality.Semantic.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Status.AcceptedNames, b.Status.AcceptedNames)
}

// ending says whether no object may be created any more.
func ending(crd *customResourceDefinition) bool {
	return crd.DeletionTimestamp != nil || apiextensions.IsTrue(crd, apiextensionsv1.Terminating)
}
