package node

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// RuntimeClass names a way in which a node's runtime can run pods.
var RuntimeClass = resource.Define(resource.Kind[*nodev1.RuntimeClass]{
	Name:  resource.Name{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass", Plural: "runtimeclasses"},
	List:  &nodev1.RuntimeClassList{},
	Store: "runtimeclasses",
	Default: func(c *nodev1.RuntimeClass) {
		if c.Overhead != nil {
			podspec.RoundUp(c.Overhead.PodFixed)
		}
	},
	Strategy: resource.Strategy[*nodev1.RuntimeClass]{
		Validate: func(_ context.Context, c *nodev1.RuntimeClass) field.ErrorList {
			errs := apivalidation.ValidateObjectMeta(&c.ObjectMeta, false, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
			errs = append(errs, validate(c)...)
			return append(errs, validateHandler(c.Handler)...)
		},
		ValidateUpdate: func(_ context.Context, c, old *nodev1.RuntimeClass) field.ErrorList {
			errs := validate(c)
			if c.Handler == old.Handler {
				return errs
			}
			return append(errs, rules.Immutable(field.NewPath("handler"), c.Handler, old.Handler)...)
		},
	},
	// Finalizers of a class are nobody's concern upstream.
	OwnMetadata:    true,
	CreateOnUpdate: true,
	NeedsVersion:   true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Handler", "string", metav1.ObjectMeta{}.SwaggerDoc()["handler"]),
		resource.AgeColumn,
	},
	Row: func(c *nodev1.RuntimeClass) []any { return []any{c.Name, c.Handler, resource.AgeOf(c)} },
})

func validateHandler(name string) field.ErrorList {
	path := field.NewPath("handler")
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return rules.Invalid(path, name, content.IsDNS1123Label(name))
}

func validate(c *nodev1.RuntimeClass) field.ErrorList {
	var errs field.ErrorList
	if c.Overhead != nil {
		errs = append(errs, podspec.ValidateResources(&corev1.ResourceRequirements{Limits: c.Overhead.PodFixed}, field.NewPath("overhead"))...)
	}
	if s := c.Scheduling; s != nil {
		path := field.NewPath("scheduling")
		errs = append(errs, unversioned.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
		errs = append(errs, podspec.ValidateTolerations(s.Tolerations, path.Child("tolerations"))...)
		var seen []corev1.Toleration
		for i, t := range s.Tolerations {
			key := corev1.Toleration{Key: t.Key, Operator: t.Operator, Value: t.Value, Effect: t.Effect}
			if slices.Contains(seen, key) {
				errs = append(errs, field.Duplicate(path.Child("tolerations").Index(i), t))
			}
			seen = append(seen, key)
		}
	}
	return errs
}
