package storage

import (
	"context"
	"maps"

	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// VolumeAttributesClass names what a driver may change on a volume that is in use.
var VolumeAttributesClass = resource.Define(resource.Kind[*storagev1.VolumeAttributesClass]{
	Name:  resource.Name{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass", Plural: "volumeattributesclasses", Short: []string{"vac"}},
	List:  &storagev1.VolumeAttributesClassList{},
	Store: "volumeattributesclasses",
	Strategy: resource.Strategy[*storagev1.VolumeAttributesClass]{
		Validate: func(_ context.Context, c *storagev1.VolumeAttributesClass) field.ErrorList {
			return validateAttributes(c)
		},
		ValidateUpdate: func(_ context.Context, c, old *storagev1.VolumeAttributesClass) field.ErrorList {
			var errs field.ErrorList
			if c.DriverName != old.DriverName {
				errs = append(errs, field.Forbidden(field.NewPath("driverName"), "updates to driverName are forbidden."))
			}
			if !maps.Equal(c.Parameters, old.Parameters) {
				errs = append(errs, field.Forbidden(field.NewPath("parameters"), "updates to parameters are forbidden."))
			}
			return append(errs, validateAttributes(c)...)
		},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("DriverName", "string", storagev1.VolumeAttributesClass{}.SwaggerDoc()["driverName"]),
		resource.AgeColumn,
	},
	Row: func(c *storagev1.VolumeAttributesClass) []any { return []any{c.Name, c.DriverName, resource.AgeOf(c)} },
})

func validateAttributes(c *storagev1.VolumeAttributesClass) field.ErrorList {
	errs := validateProvisioner(c.DriverName, field.NewPath("driverName"))
	path := field.NewPath("parameters")
	errs = append(errs, validateParameters(c.Parameters, path)...)
	if len(c.Parameters) == 0 {
		errs = append(errs, field.Required(path, "must contain at least one key/value pair"))
	}
	return errs
}
