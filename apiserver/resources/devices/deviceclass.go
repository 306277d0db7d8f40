package devices

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var specPath = field.NewPath("spec")

// name is what all kinds of the group have in common.
func name(kind, plural string, namespaced bool) resource.Name {
	return resource.Name{Group: "resource.k8s.io", Version: "v1", Kind: kind, Plural: plural, Namespaced: namespaced}
}

// DeviceClass is a kind of device that an administrator offers: which devices are of it, and how they are configured.
var DeviceClass = resource.Define(resource.Kind[*resourcev1.DeviceClass]{
	Name:  name("DeviceClass", "deviceclasses", false),
	List:  &resourcev1.DeviceClassList{},
	Store: "deviceclasses",
	Strategy: resource.Strategy[*resourcev1.DeviceClass]{
		PrepareForCreate: func(_ context.Context, c *resourcev1.DeviceClass) { c.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, c, old *resourcev1.DeviceClass) {
			if !equality.Semantic.DeepEqual(c.Spec, old.Spec) {
				c.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, c *resourcev1.DeviceClass) field.ErrorList {
			return validateClass(&c.Spec, &resourcev1.DeviceClassSpec{})
		},
		ValidateUpdate: func(_ context.Context, c, old *resourcev1.DeviceClass) field.ErrorList {
			return validateClass(&c.Spec, &old.Spec)
		},
	},
	ValidateName:  rules.LongName,
	ReturnDeleted: true,
	Columns:       []metav1.TableColumnDefinition{resource.NameColumn, resource.AgeColumn},
	Row:           func(c *resourcev1.DeviceClass) []any { return []any{c.Name, resource.AgeOf(c)} },
})

// validateClass judges a class. Expressions that were stored before were valid then and are not compiled again.
func validateClass(s, old *resourcev1.DeviceClassSpec) field.ErrorList {
	stored := len(old.Selectors) > 0 && equality.Semantic.DeepEqual(s.Selectors, old.Selectors)
	errs := each(s.Selectors, resourcev1.DeviceSelectorsMaxSize, specPath.Child("selectors"), func(sel resourcev1.DeviceSelector, p *field.Path) field.ErrorList {
		return validateSelector(sel, p, stored)
	})
	stored = len(old.Config) > 0 && equality.Semantic.DeepEqual(s.Config, old.Config)
	errs = append(errs, each(s.Config, resourcev1.DeviceConfigMaxSize, specPath.Child("config"), func(c resourcev1.DeviceClassConfiguration, p *field.Path) field.ErrorList {
		return validateConfiguration(&c.DeviceConfiguration, p, stored)
	})...)
	if n := s.ExtendedResourceName; n != nil && !podspec.IsExtended(corev1.ResourceName(*n)) {
		errs = append(errs, field.Invalid(specPath.Child("extendedResourceName"), *n, "must be a valid extended resource name"))
	}
	return errs
}
