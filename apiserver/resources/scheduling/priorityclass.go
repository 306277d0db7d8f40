package scheduling

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Priorities: users' own end where the system's begin.
const (
	maxUserPriority  = 1_000_000_000
	criticalPriority = 2 * maxUserPriority
	systemPrefix     = "system-"
)

// System are the classes that the system itself has, by name.
var System = map[string]schedulingv1.PriorityClass{
	"system-node-critical": {ObjectMeta: metav1.ObjectMeta{Name: "system-node-critical"}, Value: criticalPriority + 1000,
		Description: "Used for system critical pods that must not be moved from their current node."},
	"system-cluster-critical": {ObjectMeta: metav1.ObjectMeta{Name: "system-cluster-critical"}, Value: criticalPriority,
		Description: "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."},
}

var docs = schedulingv1.PriorityClass{}.SwaggerDoc()

// PriorityClass names how important a pod is.
var PriorityClass = resource.Define(resource.Kind[*schedulingv1.PriorityClass]{
	Name:  resource.Name{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass", Plural: "priorityclasses", Short: []string{"pc"}},
	List:  &schedulingv1.PriorityClassList{},
	Store: "priorityclasses",
	Default: func(c *schedulingv1.PriorityClass) {
		if c.PreemptionPolicy == nil {
			c.PreemptionPolicy = ptr.To(corev1.PreemptLowerPriority)
		}
	},
	Strategy: resource.Strategy[*schedulingv1.PriorityClass]{
		PrepareForCreate: func(_ context.Context, c *schedulingv1.PriorityClass) { c.Generation = 1 },
		Validate:         func(_ context.Context, c *schedulingv1.PriorityClass) field.ErrorList { return validate(c) },
		ValidateUpdate: func(_ context.Context, c, old *schedulingv1.PriorityClass) field.ErrorList {
			var errs field.ErrorList
			if c.Value != old.Value {
				errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
			}
			return append(errs, rules.Immutable(field.NewPath("preemptionPolicy"), c.PreemptionPolicy, old.PreemptionPolicy)...)
		},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Undeletable: func(name string) string {
		if _, ok := System[name]; ok {
			return "this is a system priority class and cannot be deleted"
		}
		return ""
	},
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Value", "integer", docs["value"]),
		resource.Column("Global-Default", "boolean", docs["globalDefault"]),
		resource.AgeColumn,
		resource.Column("PreemptionPolicy", "string", docs["preemptionPolicy"]),
	},
	Row: func(c *schedulingv1.PriorityClass) []any {
		return []any{c.Name, int64(c.Value), c.GlobalDefault, resource.AgeOf(c), string(ptr.Deref(c.PreemptionPolicy, ""))}
	},
})

// validate: names and values of the system are the system's.
func validate(c *schedulingv1.PriorityClass) field.ErrorList {
	var errs field.ErrorList
	if strings.HasPrefix(c.Name, systemPrefix) {
		if err := known(c); err != nil {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"), "priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+err.Error()))
		}
	} else if c.Value > maxUserPriority {
		errs = append(errs, field.Forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %v", maxUserPriority)))
	}
	if p := c.PreemptionPolicy; p != nil {
		errs = append(errs, rules.OneOf(field.NewPath("preemptionPolicy"), *p, corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	return errs
}

func known(c *schedulingv1.PriorityClass) error {
	s, ok := System[c.Name]
	switch {
	case !ok:
		return fmt.Errorf("%v is not a known system priority class", c.Name)
	case c.Value != s.Value:
		return fmt.Errorf("value of %v PriorityClass must be %v", s.Name, s.Value)
	case c.GlobalDefault != s.GlobalDefault:
		return fmt.Errorf("globalDefault of %v PriorityClass must be %v", s.Name, s.GlobalDefault)
	}
	return nil
}
