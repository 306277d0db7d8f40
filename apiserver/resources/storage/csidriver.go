package storage

import (
	"context"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var (
	specPath   = field.NewPath("spec")
	driverDocs = storagev1.CSIDriverSpec{}.SwaggerDoc()
)

const tokensInSecrets = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"

// CSIDriver says how a storage driver wants to be used.
var CSIDriver = resource.Define(resource.Kind[*storagev1.CSIDriver]{
	Name:    resource.Name{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver", Plural: "csidrivers"},
	List:    &storagev1.CSIDriverList{},
	Store:   "csidrivers",
	Default: defaultDriver,
	Strategy: resource.Strategy[*storagev1.CSIDriver]{
		PrepareForUpdate: func(_ context.Context, d, old *storagev1.CSIDriver) {
			if !equality.Semantic.DeepEqual(d.Spec, old.Spec) {
				d.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, d *storagev1.CSIDriver) field.ErrorList { return validateDriver(&d.Spec) },
		ValidateUpdate: func(_ context.Context, d, old *storagev1.CSIDriver) field.ErrorList {
			errs := append(validateDriver(&d.Spec), rules.Immutable(specPath.Child("attachedRequired"), d.Spec.AttachRequired, old.Spec.AttachRequired)...)
			return append(errs, rules.Immutable(specPath.Child("volumeLifecycleModes"), d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes)...)
		},
		WarningsOnCreate: func(_ context.Context, d *storagev1.CSIDriver) []string { return driverWarnings(&d.Spec) },
		WarningsOnUpdate: func(_ context.Context, d, old *storagev1.CSIDriver) []string {
			if equality.Semantic.DeepEqual(d.Spec.TokenRequests, old.Spec.TokenRequests) {
				return nil
			}
			return driverWarnings(&d.Spec)
		},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	NeedsVersion:  true,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("AttachRequired", "boolean", driverDocs["attachRequired"]),
		resource.Column("PodInfoOnMount", "boolean", driverDocs["podInfoOnMount"]),
		resource.Column("StorageCapacity", "boolean", driverDocs["storageCapacity"]),
		resource.Column("TokenRequests", "string", driverDocs["tokenRequests"]),
		resource.Column("RequiresRepublish", "boolean", driverDocs["requiresRepublish"]),
		resource.Column("Modes", "string", driverDocs["volumeLifecycleModes"]),
		resource.AgeColumn,
	},
	Row: func(d *storagev1.CSIDriver) []any {
		s := &d.Spec
		tokens, modes := "<unset>", "<none>"
		if s.TokenRequests != nil {
			var all []string
			for _, t := range s.TokenRequests {
				all = append(all, t.Audience)
			}
			tokens = strings.Join(all, ",")
		}
		if len(s.VolumeLifecycleModes) > 0 {
			var all []string
			for _, m := range s.VolumeLifecycleModes {
				all = append(all, string(m))
			}
			modes = strings.Join(all, ",")
		}
		return []any{d.Name, ptr.Deref(s.AttachRequired, true), ptr.Deref(s.PodInfoOnMount, false), ptr.Deref(s.StorageCapacity, false),
			tokens, ptr.Deref(s.RequiresRepublish, false), modes, resource.AgeOf(d)}
	},
})

func defaultDriver(d *storagev1.CSIDriver) {
	for _, f := range []struct {
		field **bool
		value bool
	}{{&d.Spec.AttachRequired, true}, {&d.Spec.PodInfoOnMount, false}, {&d.Spec.StorageCapacity, false}, {&d.Spec.RequiresRepublish, false},
		{&d.Spec.SELinuxMount, false}, {&d.Spec.PreventPodSchedulingIfMissing, false}} {
		if *f.field == nil {
			*f.field = ptr.To(f.value)
		}
	}
	if d.Spec.FSGroupPolicy == nil {
		d.Spec.FSGroupPolicy = ptr.To(storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	}
	if len(d.Spec.VolumeLifecycleModes) == 0 {
		d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
}

func driverWarnings(s *storagev1.CSIDriverSpec) []string {
	if len(s.TokenRequests) == 0 || s.ServiceAccountTokenInSecrets != nil {
		return nil
	}
	return []string{tokensInSecrets}
}

func validateDriver(s *storagev1.CSIDriverSpec) field.ErrorList {
	var errs field.ErrorList
	if p := s.FSGroupPolicy; p != nil {
		errs = append(errs, rules.Among(specPath.Child("fsGroupPolicy"), *p, storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)...)
	}
	errs = append(errs, validateTokenRequests(s.TokenRequests, specPath.Child("tokenRequests"))...)
	for _, m := range s.VolumeLifecycleModes {
		errs = append(errs, rules.Among(specPath.Child("volumeLifecycleModes"), m, storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)...)
	}
	if p := s.NodeAllocatableUpdatePeriodSeconds; p != nil && *p < 10 {
		errs = append(errs, field.Invalid(specPath.Child("nodeAllocatableUpdatePeriodSeconds"), *p, "must be greater than or equal to 10 seconds"))
	}
	if s.ServiceAccountTokenInSecrets != nil && len(s.TokenRequests) == 0 {
		errs = append(errs, field.Invalid(specPath.Child("serviceAccountTokenInSecrets"), s.ServiceAccountTokenInSecrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified"))
	}
	return errs
}

func validateTokenRequests(ts []storagev1.TokenRequest, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, t := range ts {
		if seen[t.Audience] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("audience"), t.Audience))
			continue
		}
		seen[t.Audience] = true
		if t.ExpirationSeconds == nil {
			continue
		}
		at, n := path.Index(i).Child("expirationSeconds"), *t.ExpirationSeconds
		switch {
		case n < 10*60:
			errs = append(errs, field.Invalid(at, n, "may not specify a duration less than 10 minutes"))
		case n > 1<<32:
			errs = append(errs, field.Invalid(at, n, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	return errs
}
