package devices

import (
	"context"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

var sliceDocs = resourcev1.ResourceSliceSpec{}.SwaggerDoc()

// ResourceSlice is part of what a driver offers.
var ResourceSlice = resource.Define(resource.Kind[*resourcev1.ResourceSlice]{
	Name:  name("ResourceSlice", "resourceslices", false),
	List:  &resourcev1.ResourceSliceList{},
	Store: "resourceslices",
	Default: func(s *resourcev1.ResourceSlice) {
		for i := range s.Spec.Devices {
			for j := range s.Spec.Devices[i].Taints {
				if t := &s.Spec.Devices[i].Taints[j]; t.TimeAdded == nil {
					t.TimeAdded = second()
				}
			}
		}
	},
	Strategy: resource.Strategy[*resourcev1.ResourceSlice]{
		PrepareForCreate: func(_ context.Context, s *resourcev1.ResourceSlice) {
			s.Generation = 1
			dropSliceAlpha(&s.Spec)
		},
		PrepareForUpdate: func(_ context.Context, s, old *resourcev1.ResourceSlice) {
			dropSliceAlpha(&s.Spec)
			if !equality.Semantic.DeepEqual(s.Spec, old.Spec) {
				s.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, s *resourcev1.ResourceSlice) field.ErrorList {
			return validateSlice(&s.Spec, nil)
		},
		ValidateUpdate: func(_ context.Context, s, old *resourcev1.ResourceSlice) field.ErrorList {
			return validateSlice(&s.Spec, &old.Spec)
		},
		WarningsOnCreate: func(_ context.Context, s *resourcev1.ResourceSlice) []string { return driverWarnings(s) },
		WarningsOnUpdate: func(_ context.Context, s, _ *resourcev1.ResourceSlice) []string { return driverWarnings(s) },
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Fields: map[string]func(*resourcev1.ResourceSlice) string{
		resourcev1.ResourceSliceSelectorNodeName: func(s *resourcev1.ResourceSlice) string { return ptr.Deref(s.Spec.NodeName, "") },
		resourcev1.ResourceSliceSelectorDriver:   func(s *resourcev1.ResourceSlice) string { return s.Spec.Driver },
		resourcev1.ResourceSliceSelectorPoolName: func(s *resourcev1.ResourceSlice) string { return s.Spec.Pool.Name },
	},
	FieldError: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Node", "string", sliceDocs["nodeName"]),
		resource.Column("Driver", "string", sliceDocs["driver"]),
		resource.Column("Pool", "string", resourcev1.ResourcePool{}.SwaggerDoc()["name"]),
		resource.AgeColumn,
	},
	Row: func(s *resourcev1.ResourceSlice) []any {
		return []any{s.Name, ptr.Deref(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, resource.AgeOf(s)}
	},
})

func driverWarnings(s *resourcev1.ResourceSlice) []string {
	if s.Spec.Driver == strings.ToLower(s.Spec.Driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", s.Spec.Driver)}
}

// dropSliceAlpha drops the fields of gates that are off by default: DRAPartitionableDevicesType, DRAOptionalNodeOperations,
// DRADeviceCompatibilityGroups, DRANodeAllocatableResources, DRAListTypeAttributes.
func dropSliceAlpha(s *resourcev1.ResourceSliceSpec) {
	s.PartitionTypeAttribute, s.SkipNodeOperations = nil, nil
	for i := range s.Devices {
		d := &s.Devices[i]
		d.NodeAllocatableResources = nil
		for j := range d.ConsumesCounters {
			d.ConsumesCounters[j].CompatibilityGroups = nil
		}
		for name, a := range d.Attributes {
			a.BoolValues, a.IntValues, a.StringValues, a.VersionValues = nil, nil, nil, nil
			d.Attributes[name] = a
		}
	}
}
