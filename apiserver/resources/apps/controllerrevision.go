package apps

import (
	"bytes"
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// ControllerRevision is a state that a controller can go back to.
var ControllerRevision = resource.Define(resource.Kind[*appsv1.ControllerRevision]{
	Name:  resource.Name{Group: "apps", Version: "v1", Kind: "ControllerRevision", Plural: "controllerrevisions", Namespaced: true},
	List:  &appsv1.ControllerRevisionList{},
	Store: "controllerrevisions",
	Strategy: resource.Strategy[*appsv1.ControllerRevision]{
		Validate: func(_ context.Context, r *appsv1.ControllerRevision) field.ErrorList { return validateRevision(r) },
		ValidateUpdate: func(_ context.Context, r, old *appsv1.ControllerRevision) field.ErrorList {
			errs := validateRevision(r)
			if !bytes.Equal(r.Data.Raw, old.Data.Raw) {
				errs = append(errs, field.Invalid(field.NewPath("data"), r.Data.Raw, "field is immutable"))
			}
			return errs
		},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn, resource.Column("Controller", "string", "Controller of the object"),
		resource.Column("Revision", "string", appsv1.ControllerRevision{}.SwaggerDoc()["revision"]), resource.AgeColumn,
	},
	Row: func(r *appsv1.ControllerRevision) []any {
		return []any{r.Name, controllerText(r), r.Revision, resource.AgeOf(r)}
	},
})

func validateRevision(r *appsv1.ControllerRevision) field.ErrorList {
	var errs field.ErrorList
	if len(r.Data.Raw) == 0 || bytes.Equal(r.Data.Raw, []byte("null")) {
		errs = append(errs, field.Required(field.NewPath("data"), "data is mandatory"))
	}
	return append(errs, apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))...)
}

// controllerText names the controller as kind.group/name.
func controllerText(o metav1.Object) string {
	ref := metav1.GetControllerOf(o)
	if ref == nil {
		return "<none>"
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return "<none>"
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
	return strings.ToLower(kind.String()) + "/" + ref.Name
}
