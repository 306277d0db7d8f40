package devices

import (
	"context"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

var taintDocs = resourcev1.DeviceTaint{}.SwaggerDoc()

// DeviceTaintRule puts a taint on devices. Bytes of v1beta2, which is stored, and of v1 are the same.
var DeviceTaintRule = resource.Define(resource.Kind[*resourcev1.DeviceTaintRule]{
	Name:     name("DeviceTaintRule", "devicetaintrules", false),
	List:     &resourcev1.DeviceTaintRuleList{},
	Store:    "devicetaintrules",
	StoredAs: resourcev1beta2.SchemeGroupVersion.WithKind("DeviceTaintRule"),
	Default: func(r *resourcev1.DeviceTaintRule) {
		if r.Spec.Taint.TimeAdded == nil {
			r.Spec.Taint.TimeAdded = second()
		}
	},
	Strategy: resource.Strategy[*resourcev1.DeviceTaintRule]{
		PrepareForCreate: func(_ context.Context, r *resourcev1.DeviceTaintRule) {
			r.Status, r.Generation = resourcev1.DeviceTaintRuleStatus{}, 1
		},
		PrepareForUpdate: func(_ context.Context, r, old *resourcev1.DeviceTaintRule) {
			r.Status = old.Status
			if t, was := &r.Spec.Taint, &old.Spec.Taint; t.Effect != was.Effect && t.TimeAdded.Equal(was.TimeAdded) {
				t.TimeAdded = second() // of another effect, the time is another
			}
			if !equality.Semantic.DeepEqual(r.Spec, old.Spec) {
				r.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, r *resourcev1.DeviceTaintRule) field.ErrorList {
			return validateRule(&r.Spec, nil)
		},
		ValidateUpdate: func(_ context.Context, r, old *resourcev1.DeviceTaintRule) field.ErrorList {
			return validateRule(&r.Spec, &old.Spec.Taint)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*resourcev1.DeviceTaintRule]{
		PrepareForUpdate: func(_ context.Context, r, old *resourcev1.DeviceTaintRule) {
			r.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&r.ObjectMeta, &old.ObjectMeta)
		},
		ValidateUpdate: func(_ context.Context, r, _ *resourcev1.DeviceTaintRule) field.ErrorList {
			p, cs := statusPath.Child("conditions"), r.Status.Conditions
			errs := unversioned.ValidateConditions(cs, p)
			if len(cs) > resourcev1.DeviceTaintRuleStatusMaxConditions {
				errs = append(errs, field.TooMany(p, len(cs), resourcev1.DeviceTaintRuleStatusMaxConditions))
			}
			return errs
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	NeedsVersion: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Key", "string", taintDocs["key"]),
		resource.Column("Value", "string", taintDocs["value"]),
		resource.Column("Effect", "string", taintDocs["effect"]),
		resource.Column("TimeAdded", "string", taintDocs["timeAdded"]),
		resource.AgeColumn,
	},
	Row: func(r *resourcev1.DeviceTaintRule) []any {
		t, added := &r.Spec.Taint, ""
		if t.TimeAdded != nil {
			added = resource.Age(*t.TimeAdded)
		}
		return []any{r.Name, t.Key, t.Value, string(t.Effect), added, resource.AgeOf(r)}
	},
})

// second is now, as precisely as it is written.
func second() *metav1.Time { return &metav1.Time{Time: time.Now().Truncate(time.Second)} }

func validateRule(s *resourcev1.DeviceTaintRuleSpec, old *resourcev1.DeviceTaint) field.ErrorList {
	var errs field.ErrorList
	if sel, p := s.DeviceSelector, specPath.Child("deviceSelector"); sel != nil {
		if sel.Driver != nil {
			errs = append(errs, validateDriver(*sel.Driver, p.Child("driver"))...)
		}
		if sel.Pool != nil {
			errs = append(errs, validatePool(*sel.Pool, p.Child("pool"))...)
		}
		if sel.Device != nil {
			errs = append(errs, validateLabel(*sel.Device, p.Child("device"))...)
		}
	}
	return append(errs, validateTaint(&s.Taint, old, specPath.Child("taint"))...)
}
