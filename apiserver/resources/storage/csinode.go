package storage

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// maxNodeID bounds a driver's name for a node.
const maxNodeID = 256

// CSINode says which storage drivers a node has.
var CSINode = resource.Define(resource.Kind[*storagev1.CSINode]{
	Name:  resource.Name{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode", Plural: "csinodes"},
	List:  &storagev1.CSINodeList{},
	Store: "csinodes",
	Strategy: resource.Strategy[*storagev1.CSINode]{
		PrepareForCreate: func(_ context.Context, n *storagev1.CSINode) { n.Status = storagev1.CSINodeStatus{} },
		PrepareForUpdate: func(_ context.Context, n, old *storagev1.CSINode) { n.Status = old.Status },
		Validate:         func(_ context.Context, n *storagev1.CSINode) field.ErrorList { return validateDrivers(n.Spec.Drivers) },
		ValidateUpdate: func(_ context.Context, n, old *storagev1.CSINode) field.ErrorList {
			return append(validateDrivers(n.Spec.Drivers), validateDriversUpdate(n.Spec.Drivers, old.Spec.Drivers)...)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*storagev1.CSINode]{
		PrepareForUpdate: func(_ context.Context, n, old *storagev1.CSINode) {
			n.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&n.ObjectMeta, &old.ObjectMeta)
			if len(old.Status.StorageHealth) == 0 {
				n.Status.StorageHealth = nil // of the gate CSIVolumeHealth, which is off
			}
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	NeedsVersion:  true,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Drivers", "integer", "Drivers indicates the number of CSI drivers registered on the node"),
		resource.AgeColumn,
	},
	Row: func(n *storagev1.CSINode) []any { return []any{n.Name, int64(len(n.Spec.Drivers)), resource.AgeOf(n)} },
})

func validateDrivers(ds []storagev1.CSINodeDriver) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i := range ds {
		path := specPath.Child("drivers").Index(i)
		errs = append(errs, validateNodeDriver(&ds[i], path)...)
		if seen[ds[i].Name] {
			errs = append(errs, field.Duplicate(path.Child("name"), ds[i].Name))
		}
		seen[ds[i].Name] = true
		errs = append(errs, validateTopologyKeys(ds[i].TopologyKeys, path)...)
	}
	return errs
}

func validateNodeDriver(d *storagev1.CSINodeDriver, path *field.Path) field.ErrorList {
	errs := core.ValidateDriverName(d.Name, path.Child("name"))
	errs = append(errs, rules.Required(path.Child("nodeID"), d.NodeID)...)
	if len(d.NodeID) > maxNodeID {
		errs = append(errs, field.Invalid(path.Child("nodeID"), d.NodeID, fmt.Sprintf("must be %d characters or less", maxNodeID)))
	}
	if d.Allocatable != nil {
		errs = append(errs, rules.NotNegativePtr(path.Child("allocatable", "count"), d.Allocatable.Count)...)
	}
	return errs
}

func validateTopologyKeys(keys []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for _, k := range keys {
		errs = append(errs, rules.Required(path, k)...)
		if seen[k] {
			errs = append(errs, field.Duplicate(path, k))
		}
		seen[k] = true
		errs = append(errs, rules.Invalid(path, k, validation.IsQualifiedName(k))...)
	}
	return errs
}

// validateDriversUpdate: a driver stays as it is, but for how many volumes it can attach.
func validateDriversUpdate(now, was []storagev1.CSINodeDriver) field.ErrorList {
	var errs field.ErrorList
	for _, o := range was {
		for _, n := range now {
			if n.Name == o.Name {
				o.Allocatable, n.Allocatable = nil, nil
				errs = append(errs, rules.Immutable(specPath.Child("drivers"), &n, &o)...)
			}
		}
	}
	return errs
}
