package coordination

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Lease says who holds something, and until when: leaders, and nodes that are alive.
var Lease = resource.Define(resource.Kind[*coordinationv1.Lease]{
	Name:  resource.Name{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Plural: "leases", Namespaced: true},
	List:  &coordinationv1.LeaseList{},
	Store: "leases",
	Strategy: resource.Strategy[*coordinationv1.Lease]{
		Validate: func(_ context.Context, l *coordinationv1.Lease) field.ErrorList {
			return append(apivalidation.ValidateObjectMeta(&l.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata")), validate(&l.Spec)...)
		},
		ValidateUpdate: func(_ context.Context, l, _ *coordinationv1.Lease) field.ErrorList { return validate(&l.Spec) },
	},
	OwnMetadata:    true,
	CreateOnUpdate: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn, resource.Column("Holder", "string", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]), resource.AgeColumn,
	},
	Row: func(l *coordinationv1.Lease) []any {
		return []any{l.Name, ptr.Deref(l.Spec.HolderIdentity, ""), resource.AgeOf(l)}
	},
})

func validate(s *coordinationv1.LeaseSpec) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if d := s.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(path.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if t := s.LeaseTransitions; t != nil && *t < 0 {
		errs = append(errs, field.Invalid(path.Child("leaseTransitions"), *t, "must be greater than or equal to 0"))
	}
	if s.Strategy != nil && *s.Strategy == "" {
		errs = append(errs, field.Required(path.Child("strategy"), ""))
	}
	if s.PreferredHolder != nil && *s.PreferredHolder != "" && ptr.Deref(s.Strategy, "") == "" {
		errs = append(errs, field.Forbidden(path.Child("preferredHolder"), "may only be specified when `strategy` is defined"))
	}
	return errs
}
