package storage

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// CSIStorageCapacity says how much storage of a class some nodes can still get.
var CSIStorageCapacity = resource.Define(resource.Kind[*storagev1.CSIStorageCapacity]{
	Name:  resource.Name{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity", Plural: "csistoragecapacities", Namespaced: true},
	List:  &storagev1.CSIStorageCapacityList{},
	Store: "csistoragecapacities",
	Strategy: resource.Strategy[*storagev1.CSIStorageCapacity]{
		Validate: func(_ context.Context, c *storagev1.CSIStorageCapacity) field.ErrorList { return validateCapacity(c) },
		ValidateUpdate: func(_ context.Context, c, old *storagev1.CSIStorageCapacity) field.ErrorList {
			errs := validateCapacity(c)
			if !equality.Semantic.DeepEqual(c.NodeTopology, old.NodeTopology) {
				errs = append(errs, field.Invalid(field.NewPath("nodeTopology"), c.NodeTopology, rules.ImmutableText))
			}
			if c.StorageClassName != old.StorageClassName {
				errs = append(errs, field.Invalid(field.NewPath("storageClassName"), c.StorageClassName, rules.ImmutableText))
			}
			return errs
		},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	NeedsVersion: true,
})

func validateCapacity(c *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := rules.Selector(field.NewPath("nodeTopology"), c.NodeTopology)
	errs = append(errs, rules.Invalid(field.NewPath("storageClassName"), c.StorageClassName, apivalidation.NameIsDNSSubdomain(c.StorageClassName, false))...)
	if q := c.Capacity; q != nil && q.Sign() < 0 {
		errs = append(errs, field.Invalid(field.NewPath("capacity"), q.String(), rules.NotNegativeText))
	}
	return errs
}
