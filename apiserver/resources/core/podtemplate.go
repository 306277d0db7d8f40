package core

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

// PodTemplate is a template on its own, without anyone who makes pods of it.
var PodTemplate = resource.Define(resource.Kind[*corev1.PodTemplate]{
	Name:    resource.Name{Version: "v1", Kind: "PodTemplate", Plural: "podtemplates", Namespaced: true},
	List:    &corev1.PodTemplateList{},
	Store:   "podtemplates",
	Default: func(t *corev1.PodTemplate) { podspec.DefaultTemplate(&t.Template) },
	Strategy: resource.Strategy[*corev1.PodTemplate]{
		PrepareForCreate: func(_ context.Context, t *corev1.PodTemplate) { t.Generation = 1 },
		PrepareForUpdate: func(_ context.Context, t, old *corev1.PodTemplate) {
			if !equality.Semantic.DeepEqual(t.Template, old.Template) {
				t.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, t *corev1.PodTemplate) field.ErrorList {
			return podspec.ValidateTemplate(&t.Template, field.NewPath("template"))
		},
		ValidateUpdate: func(_ context.Context, t, _ *corev1.PodTemplate) field.ErrorList {
			return podspec.ValidateTemplate(&t.Template, field.NewPath("template"))
		},
		WarningsOnCreate: func(_ context.Context, t *corev1.PodTemplate) []string {
			return podspec.Warnings(&t.Template.Spec, &t.Template.ObjectMeta, field.NewPath("template"))
		},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Containers", "string", "Names of each container in the template."),
		resource.Column("Images", "string", "Images referenced by each container in the template."),
		resource.Column("Pod Labels", "string", "The labels for the pod template."),
	},
	Row: func(t *corev1.PodTemplate) []any {
		names, images := ContainersAndImages(t.Template.Spec.Containers)
		return []any{t.Name, names, images, labels.FormatLabels(t.Template.Labels)}
	},
})

// ContainersAndImages gives two cells: the names of containers and their images.
func ContainersAndImages(cs []corev1.Container) (names, images string) {
	var n, i []string
	for _, c := range cs {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}
