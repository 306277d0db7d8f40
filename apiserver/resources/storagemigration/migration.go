package storagemigration

import (
	"context"
	"fmt"
	"strings"

	migrationv1 "k8s.io/api/storagemigration/v1"
	migrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// StorageVersionMigration asks for all objects of a resource to be written anew, in the version that is stored today.
// Bytes of v1beta1, which is stored, and of v1 are the same.
var StorageVersionMigration = resource.Define(resource.Kind[*migrationv1.StorageVersionMigration]{
	Name:     resource.Name{Group: "storagemigration.k8s.io", Version: "v1", Kind: "StorageVersionMigration", Plural: "storageversionmigrations"},
	List:     &migrationv1.StorageVersionMigrationList{},
	Store:    "storageversionmigrations",
	StoredAs: migrationv1beta1.SchemeGroupVersion.WithKind("StorageVersionMigration"),
	Strategy: resource.Strategy[*migrationv1.StorageVersionMigration]{
		PrepareForCreate: func(_ context.Context, m *migrationv1.StorageVersionMigration) {
			m.Status = migrationv1.StorageVersionMigrationStatus{}
		},
		PrepareForUpdate: func(_ context.Context, m, old *migrationv1.StorageVersionMigration) { m.Status = old.Status },
		Validate:         func(_ context.Context, m *migrationv1.StorageVersionMigration) field.ErrorList { return validate(m) },
		ValidateUpdate: func(_ context.Context, m, old *migrationv1.StorageVersionMigration) field.ErrorList {
			return append(validate(m), rules.Immutable(field.NewPath("spec"), m.Spec, old.Spec)...)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*migrationv1.StorageVersionMigration]{
		PrepareForUpdate: func(_ context.Context, m, old *migrationv1.StorageVersionMigration) {
			m.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&m.ObjectMeta, &old.ObjectMeta)
		},
		ValidateUpdate: func(_ context.Context, m, old *migrationv1.StorageVersionMigration) field.ErrorList {
			return validateStatus(&m.Status, &old.Status)
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	NeedsVersion: true,
	Columns: []metav1.TableColumnDefinition{
		resource.Column("Name", "string", resource.NameColumn.Description),
		resource.Column("Resource", "string", "GroupResource to migrate"),
		resource.Column("Status", "string", "Status of the migration"),
	},
	Row: func(m *migrationv1.StorageVersionMigration) []any {
		state := "Unknown"
		for _, c := range m.Status.Conditions {
			switch migrationv1.MigrationConditionType(c.Type) {
			case migrationv1.MigrationRunning, migrationv1.MigrationFailed, migrationv1.MigrationSucceeded:
				if c.Status == metav1.ConditionTrue {
					state = c.Type
				}
			}
		}
		return []any{m.Name, m.Spec.Resource.String(), state}
	},
})

func validate(m *migrationv1.StorageVersionMigration) field.ErrorList {
	path, r := field.NewPath("spec", "resource"), m.Spec.Resource
	var errs field.ErrorList
	if r.Resource == "" {
		errs = append(errs, field.Required(path.Child("resource"), "resource is required to be set"))
	} else if texts := validation.IsDNS1035Label(r.Resource); len(texts) > 0 {
		errs = append(errs, field.Invalid(path.Child("resource"), r.Resource, strings.Join(texts, ",")))
	}
	if r.Group != "" {
		if texts := validation.IsDNS1123Subdomain(r.Group); len(texts) > 0 {
			errs = append(errs, field.Invalid(path.Child("group"), r.Group, strings.Join(texts, ",")))
		}
	}
	return errs
}

// validateStatus: a migration ends one way, and then stays so.
func validateStatus(s, old *migrationv1.StorageVersionMigrationStatus) field.ErrorList {
	version, conditions := field.NewPath("status", "resourceVersion"), field.NewPath("status", "conditions")
	var errs field.ErrorList
	if v := s.ResourceVersion; v != "" {
		if n, err := resourceversion.CompareResourceVersion(v, v); err != nil {
			errs = append(errs, field.Invalid(version, v, err.Error()))
		} else if n != 0 {
			errs = append(errs, field.Invalid(version, v, fmt.Sprintf("unable to compare resource versions, %s is not equal to %s", v, v)))
		}
	}
	errs = append(errs, unversioned.ValidateConditions(s.Conditions, conditions)...)
	if old.ResourceVersion != "" && old.ResourceVersion != s.ResourceVersion {
		errs = append(errs, field.Invalid(version, s.ResourceVersion, rules.ImmutableText))
	}
	is := func(s *migrationv1.StorageVersionMigrationStatus, t migrationv1.MigrationConditionType) bool {
		return meta.IsStatusConditionTrue(s.Conditions, string(t))
	}
	if is(s, migrationv1.MigrationSucceeded) && is(s, migrationv1.MigrationFailed) {
		errs = append(errs, field.Invalid(conditions, s.Conditions, "Both success and failed conditions cannot be true at the same time"))
	}
	if is(old, migrationv1.MigrationSucceeded) && !is(s, migrationv1.MigrationSucceeded) {
		errs = append(errs, field.Invalid(conditions, s.Conditions, "Success condition cannot be set to false once it is true"))
	}
	if is(old, migrationv1.MigrationFailed) && !is(s, migrationv1.MigrationFailed) {
		errs = append(errs, field.Invalid(conditions, s.Conditions, "Failed condition cannot be set to false once it is true"))
	}
	return errs
}
