package apps

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var (
	daemonSetSpecDocs   = appsv1.DaemonSetSpec{}.SwaggerDoc()
	daemonSetStatusDocs = appsv1.DaemonSetStatus{}.SwaggerDoc()
)

// templateGeneration is the annotation that keeps, for older versions, how often a DaemonSet's template changed.
const templateGeneration = appsv1.DeprecatedTemplateGeneration

// DaemonSet keeps a pod on every node that its template may run on.
var DaemonSet = resource.Define(resource.Kind[*appsv1.DaemonSet]{
	Name:    resource.Name{Group: "apps", Version: "v1", Kind: "DaemonSet", Plural: "daemonsets", Short: []string{"ds"}, Categories: []string{"all"}, Namespaced: true},
	List:    &appsv1.DaemonSetList{},
	Store:   "daemonsets",
	Default: defaultDaemonSet,
	Strategy: resource.Strategy[*appsv1.DaemonSet]{
		PrepareForCreate: func(_ context.Context, d *appsv1.DaemonSet) {
			d.Status = appsv1.DaemonSetStatus{}
			d.Generation = 1
			setTemplateGeneration(d, max(templateGenerationOf(d), 1))
		},
		PrepareForUpdate: prepareDaemonSetUpdate,
		Validate:         func(_ context.Context, d *appsv1.DaemonSet) field.ErrorList { return validateDaemonSet(&d.Spec) },
		ValidateUpdate: func(_ context.Context, d, old *appsv1.DaemonSet) field.ErrorList {
			return append(validateDaemonSet(&d.Spec), rules.Immutable(specPath.Child("selector"), d.Spec.Selector, old.Spec.Selector)...)
		},
		WarningsOnCreate: func(_ context.Context, d *appsv1.DaemonSet) []string { return daemonSetWarnings(d) },
		WarningsOnUpdate: func(_ context.Context, d, old *appsv1.DaemonSet) []string {
			if templateGenerationOf(d) == templateGenerationOf(old) {
				return nil
			}
			return daemonSetWarnings(d)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*appsv1.DaemonSet]{
		PrepareForUpdate: func(_ context.Context, d, old *appsv1.DaemonSet) { d.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, d, old *appsv1.DaemonSet) field.ErrorList {
			return validateDaemonSetStatus(&d.Status, &old.Status)
		},
		ResetFields: []string{"spec"},
	},
	FieldAnnotations: []string{templateGeneration},
	ValidateName:     apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Desired", "integer", daemonSetStatusDocs["desiredNumberScheduled"]),
		resource.Column("Current", "integer", daemonSetStatusDocs["currentNumberScheduled"]),
		resource.Column("Ready", "integer", daemonSetStatusDocs["numberReady"]),
		resource.Column("Up-to-date", "integer", daemonSetStatusDocs["updatedNumberScheduled"]),
		resource.Column("Available", "integer", daemonSetStatusDocs["numberAvailable"]),
		resource.Column("Node Selector", "string", corev1.PodSpec{}.SwaggerDoc()["nodeSelector"]),
		resource.AgeColumn,
		resource.WideColumn("Containers", "string", "Names of each container in the template."),
		resource.WideColumn("Images", "string", "Images referenced by each container in the template."),
		resource.WideColumn("Selector", "string", daemonSetSpecDocs["selector"]),
	},
	Row: func(d *appsv1.DaemonSet) []any {
		s := &d.Status
		names, images := core.ContainersAndImages(d.Spec.Template.Spec.Containers)
		return []any{d.Name, int64(s.DesiredNumberScheduled), int64(s.CurrentNumberScheduled), int64(s.NumberReady), int64(s.UpdatedNumberScheduled), int64(s.NumberAvailable),
			labels.FormatLabels(d.Spec.Template.Spec.NodeSelector), resource.AgeOf(d), names, images, selectorText(d.Spec.Selector)}
	},
})

func daemonSetWarnings(d *appsv1.DaemonSet) []string {
	return podspec.Warnings(&d.Spec.Template.Spec, &d.Spec.Template.ObjectMeta, specPath.Child("template"))
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	u := &d.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if u.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		fillPtr(&u.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		fillPtr(&u.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		fillPtr(&u.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	fillPtr(&d.Spec.RevisionHistoryLimit, 10)
	if _, ok := d.Annotations[templateGeneration]; !ok {
		setTemplateGeneration(d, 0)
	}
	podspec.DefaultTemplate(&d.Spec.Template)
}

// prepareDaemonSetUpdate counts changes of the template apart from those of the spec.
func prepareDaemonSetUpdate(_ context.Context, d, old *appsv1.DaemonSet) {
	d.Status = old.Status
	generation := templateGenerationOf(old)
	switch {
	case !equality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template):
		generation++
		d.Generation = old.Generation + 1
	case !equality.Semantic.DeepEqual(d.Spec, old.Spec):
		d.Generation = old.Generation + 1
	}
	setTemplateGeneration(d, generation)
}

func validateDaemonSet(s *appsv1.DaemonSetSpec) field.ErrorList {
	path, at := specPath.Child("template"), specPath.Child("selector")
	errs := rules.Selector(at, s.Selector)
	if selector, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(at, s.Selector, "empty selector is invalid for daemonset"))
	}
	errs = append(errs, podspec.ValidateTemplate(&s.Template, path)...)
	if p := s.Template.Spec.RestartPolicy; p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if s.Template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in DaemonSet is not Supported"))
	}
	errs = append(errs, rules.NotNegative(specPath.Child("minReadySeconds"), s.MinReadySeconds)...)
	errs = append(errs, validateDaemonStrategy(&s.UpdateStrategy, specPath.Child("updateStrategy"))...)
	return append(errs, rules.NotNegativePtr(specPath.Child("revisionHistoryLimit"), s.RevisionHistoryLimit)...)
}

func validateDaemonStrategy(u *appsv1.DaemonSetUpdateStrategy, path *field.Path) field.ErrorList {
	switch u.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
		if u.RollingUpdate == nil {
			return field.ErrorList{field.Required(path.Child("rollingUpdate"), "")}
		}
		return validateDaemonRollingUpdate(u.RollingUpdate, path.Child("rollingUpdate"))
	}
	return field.ErrorList{field.NotSupported(path, u, []appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
}

// validateDaemonRollingUpdate: either old pods go first or new ones come first, not both.
func validateDaemonRollingUpdate(r *appsv1.RollingUpdateDaemonSet, path *field.Path) field.ErrorList {
	unavailable, surge := ptr.Deref(r.MaxUnavailable, intstr.IntOrString{}), ptr.Deref(r.MaxSurge, intstr.IntOrString{})
	goFirst, comeFirst := path.Child("maxUnavailable"), path.Child("maxSurge")
	errs := append(rules.IntOrPercent(goFirst, unavailable), rules.IntOrPercent(comeFirst, surge)...)
	errs = append(errs, rules.AtMostAll(goFirst, unavailable)...)
	errs = append(errs, rules.AtMostAll(comeFirst, surge)...)
	switch {
	case value(unavailable) != 0 && value(surge) != 0:
		errs = append(errs, field.Invalid(comeFirst, surge, "may not be set when maxUnavailable is non-zero"))
	case value(unavailable) == 0 && value(surge) == 0:
		errs = append(errs, field.Required(goFirst, "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetStatus(s, old *appsv1.DaemonSetStatus) field.ErrorList {
	path := field.NewPath("status")
	var errs field.ErrorList
	for _, c := range []struct {
		name string
		n    int64
	}{{"currentNumberScheduled", int64(s.CurrentNumberScheduled)}, {"numberMisscheduled", int64(s.NumberMisscheduled)}, {"desiredNumberScheduled", int64(s.DesiredNumberScheduled)},
		{"numberReady", int64(s.NumberReady)}, {"observedGeneration", s.ObservedGeneration}, {"updatedNumberScheduled", int64(s.UpdatedNumberScheduled)},
		{"numberAvailable", int64(s.NumberAvailable)}, {"numberUnavailable", int64(s.NumberUnavailable)}} {
		errs = append(errs, rules.NotNegative(path.Child(c.name), c.n)...)
	}
	errs = append(errs, rules.NotNegativePtr(path.Child("collisionCount"), s.CollisionCount)...)
	return append(errs, validateCollisions(s.CollisionCount, old.CollisionCount, path)...)
}
