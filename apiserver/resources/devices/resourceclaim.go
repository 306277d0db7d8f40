package devices

import (
	"context"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// ResourceClaim asks for devices, and says in its status which it got.
var ResourceClaim = resource.Define(resource.Kind[*resourcev1.ResourceClaim]{
	Name:    name("ResourceClaim", "resourceclaims", true),
	List:    &resourcev1.ResourceClaimList{},
	Store:   "resourceclaims",
	Default: func(c *resourcev1.ResourceClaim) { defaultRequests(c.Spec.Devices.Requests) },
	Strategy: resource.Strategy[*resourcev1.ResourceClaim]{
		PrepareForCreate: func(_ context.Context, c *resourcev1.ResourceClaim) {
			c.Status = resourcev1.ResourceClaimStatus{}
			dropAlpha(&c.Spec)
		},
		PrepareForUpdate: func(_ context.Context, c, old *resourcev1.ResourceClaim) { c.Status = old.Status },
		Validate: func(_ context.Context, c *resourcev1.ResourceClaim) field.ErrorList {
			return validateClaim(&c.Spec.Devices, specPath.Child("devices"))
		},
		ValidateUpdate: func(_ context.Context, c, old *resourcev1.ResourceClaim) field.ErrorList {
			return rules.Immutable(specPath, c.Spec, old.Spec)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*resourcev1.ResourceClaim]{
		PrepareForUpdate: func(_ context.Context, c, old *resourcev1.ResourceClaim) {
			c.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&c.ObjectMeta, &old.ObjectMeta)
			dropDeallocated(c, old)
		},
		ValidateUpdate: func(_ context.Context, c, old *resourcev1.ResourceClaim) field.ErrorList {
			return validateClaimStatus(c, old)
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("State", "string", "A summary of the current state (allocated, pending, reserved, etc.)."),
		resource.AgeColumn,
	},
	Row: func(c *resourcev1.ResourceClaim) []any { return []any{c.Name, state(c), resource.AgeOf(c)} },
})

// ResourceClaimTemplate is what claims of pods are made of.
var ResourceClaimTemplate = resource.Define(resource.Kind[*resourcev1.ResourceClaimTemplate]{
	Name:    name("ResourceClaimTemplate", "resourceclaimtemplates", true),
	List:    &resourcev1.ResourceClaimTemplateList{},
	Store:   "resourceclaimtemplates",
	Default: func(t *resourcev1.ResourceClaimTemplate) { defaultRequests(t.Spec.Spec.Devices.Requests) },
	Strategy: resource.Strategy[*resourcev1.ResourceClaimTemplate]{
		PrepareForCreate: func(_ context.Context, t *resourcev1.ResourceClaimTemplate) { dropAlpha(&t.Spec.Spec) },
		Validate: func(_ context.Context, t *resourcev1.ResourceClaimTemplate) field.ErrorList {
			return validateTemplate(t)
		},
		ValidateUpdate: func(_ context.Context, t, old *resourcev1.ResourceClaimTemplate) field.ErrorList {
			return append(validateTemplate(t), rules.Immutable(specPath, t.Spec, old.Spec)...)
		},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Columns:       []metav1.TableColumnDefinition{resource.NameColumn, resource.AgeColumn},
	Row:           func(t *resourcev1.ResourceClaimTemplate) []any { return []any{t.Name, resource.AgeOf(t)} },
})

func validateTemplate(t *resourcev1.ResourceClaimTemplate) field.ErrorList {
	errs := apivalidation.ValidateAnnotations(t.Spec.Annotations, specPath.Child("metadata", "annotations"))
	errs = append(errs, validateLabels(t.Spec.Labels, specPath.Child("metadata", "labels"))...)
	return append(errs, validateClaim(&t.Spec.Spec.Devices, specPath.Child("spec", "devices"))...)
}

// defaultRequests: one device, unless said otherwise.
func defaultRequests(rs []resourcev1.DeviceRequest) {
	fill := func(mode *resourcev1.DeviceAllocationMode, count *int64) {
		if *mode == "" {
			*mode = resourcev1.DeviceAllocationModeExactCount
		}
		if *mode == resourcev1.DeviceAllocationModeExactCount && *count == 0 {
			*count = 1
		}
	}
	for i := range rs {
		if e := rs[i].Exactly; e != nil {
			fill(&e.AllocationMode, &e.Count)
		}
		for j := range rs[i].FirstAvailable {
			fill(&rs[i].FirstAvailable[j].AllocationMode, &rs[i].FirstAvailable[j].Count)
		}
	}
}

// dropAlpha drops the fields of gates that are off by default: DRADerivedAttributes.
func dropAlpha(s *resourcev1.ResourceClaimSpec) {
	for i := range s.Devices.Requests {
		r := &s.Devices.Requests[i]
		if r.Exactly != nil {
			r.Exactly.DerivedAttributes = nil
		}
		for j := range r.FirstAvailable {
			r.FirstAvailable[j].DerivedAttributes = nil
		}
	}
}

// state is how a claim's state is told in a table.
func state(c *resourcev1.ResourceClaim) string {
	var words []string
	if c.DeletionTimestamp != nil {
		words = append(words, "deleted")
	}
	switch {
	case c.Status.Allocation == nil && c.DeletionTimestamp == nil:
		words = append(words, "pending")
	case c.Status.Allocation != nil && len(c.Status.ReservedFor) > 0:
		words = append(words, "allocated", "reserved")
	case c.Status.Allocation != nil:
		words = append(words, "allocated")
	}
	return strings.Join(words, ",")
}
