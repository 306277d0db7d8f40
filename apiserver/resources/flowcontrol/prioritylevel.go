package flowcontrol

import (
	"context"
	"fmt"
	"math"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Defaults and bounds of levels and their queues.
const (
	defaultShares   = 30
	defaultQueues   = 64
	defaultHand     = 8
	defaultQueueLen = 50
	maxQueues       = 10_000_000
	maxHashBits     = 60
)

var queueDocs = flowcontrolv1.QueuingConfiguration{}.SwaggerDoc()

// PriorityLevelConfiguration says how many requests of a level are served at once, and what becomes of the others.
var PriorityLevelConfiguration = resource.Define(resource.Kind[*flowcontrolv1.PriorityLevelConfiguration]{
	Name:    resource.Name{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "PriorityLevelConfiguration", Plural: "prioritylevelconfigurations"},
	List:    &flowcontrolv1.PriorityLevelConfigurationList{},
	Store:   "prioritylevelconfigurations",
	Default: defaultLevel,
	Strategy: resource.Strategy[*flowcontrolv1.PriorityLevelConfiguration]{
		PrepareForCreate: func(_ context.Context, l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Status = flowcontrolv1.PriorityLevelConfigurationStatus{}
			l.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, l, old *flowcontrolv1.PriorityLevelConfiguration) {
			if !equality.Semantic.DeepEqual(l.Spec, old.Spec) {
				l.Generation = old.Generation + 1
			}
			l.Status = old.Status
		},
		Validate: func(_ context.Context, l *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
			return validateLevel(l)
		},
		ValidateUpdate: func(_ context.Context, l, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
			return validateLevel(l)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*flowcontrolv1.PriorityLevelConfiguration]{
		PrepareForUpdate: func(_ context.Context, l, old *flowcontrolv1.PriorityLevelConfiguration) {
			managers := l.ManagedFields
			l.ObjectMeta, l.Spec = old.ObjectMeta, old.Spec
			l.ManagedFields = managers
		},
		ValidateUpdate: func(_ context.Context, l, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
			return validateConditions(levelTypes(l))
		},
		ResetFields: []string{"spec", "metadata"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Type", "string", flowcontrolv1.PriorityLevelConfigurationSpec{}.SwaggerDoc()["type"]),
		resource.Column("NominalConcurrencyShares", "string", flowcontrolv1.LimitedPriorityLevelConfiguration{}.SwaggerDoc()["nominalConcurrencyShares"]),
		resource.Column("Queues", "string", queueDocs["queues"]),
		resource.Column("HandSize", "string", queueDocs["handSize"]),
		resource.Column("QueueLengthLimit", "string", queueDocs["queueLengthLimit"]),
		resource.AgeColumn,
	},
	Row: func(l *flowcontrolv1.PriorityLevelConfiguration) []any {
		const none = "<none>"
		shares, queues, hand, length := any(none), any(none), any(none), any(none)
		if m := l.Spec.Limited; m != nil {
			shares = ptr.Deref(m.NominalConcurrencyShares, 0)
			if q := m.LimitResponse.Queuing; q != nil {
				queues, hand, length = q.Queues, q.HandSize, q.QueueLengthLimit
			}
		}
		return []any{l.Name, string(l.Spec.Type), shares, queues, hand, length, resource.AgeOf(l)}
	},
})

func levelTypes(l *flowcontrolv1.PriorityLevelConfiguration) []string {
	var out []string
	for _, c := range l.Status.Conditions {
		out = append(out, string(c.Type))
	}
	return out
}

func fill(p **int32, value int32) {
	if *p == nil {
		*p = &value
	}
}

func defaultLevel(l *flowcontrolv1.PriorityLevelConfiguration) {
	if e := l.Spec.Exempt; e != nil {
		fill(&e.NominalConcurrencyShares, 0)
		fill(&e.LendablePercent, 0)
	}
	m := l.Spec.Limited
	if m == nil {
		return
	}
	fill(&m.NominalConcurrencyShares, defaultShares)
	fill(&m.LendablePercent, 0)
	if q := m.LimitResponse.Queuing; q != nil {
		for _, f := range []struct {
			field *int32
			value int32
		}{{&q.HandSize, defaultHand}, {&q.Queues, defaultQueues}, {&q.QueueLengthLimit, defaultQueueLen}} {
			if *f.field == 0 {
				*f.field = f.value
			}
		}
	}
}

const zeroShares = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"

func validateLevel(l *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	var errs field.ErrorList
	if _, ok := l.Annotations[zeroShares]; ok {
		errs = append(errs, field.Forbidden(field.NewPath("metadata", "annotations"), fmt.Sprintf("annotation '%s' is forbidden", zeroShares)))
	}
	s := &l.Spec
	exempt := s.Type == flowcontrolv1.PriorityLevelEnablementExempt
	if (l.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt) != exempt {
		errs = append(errs, field.Invalid(specPath.Child("type"), s.Type, "must be 'Exempt' if and only if `name` is 'exempt'"))
	}
	switch s.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		if s.Exempt != nil {
			errs = append(errs, validateExempt(s.Exempt, specPath.Child("exempt"))...)
		}
	case flowcontrolv1.PriorityLevelEnablementLimited:
		if s.Limited != nil {
			errs = append(errs, validateLimited(s.Limited, specPath.Child("limited"))...)
		}
	case "":
	default:
		errs = append(errs, field.NotSupported(specPath.Child("type"), s.Type, []flowcontrolv1.PriorityLevelEnablement{flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited}))
	}
	errs = append(errs, validateMandatory(l)...)
	errs = append(errs, validateConditions(levelTypes(l))...)
	return append(errs, validateUnion(s)...)
}

// validateUnion: what the types declare, which is judged last.
func validateUnion(s *flowcontrolv1.PriorityLevelConfigurationSpec) field.ErrorList {
	var errs field.ErrorList
	if s.Type == "" {
		return field.ErrorList{field.Required(specPath.Child("type"), "")}
	}
	if s.Exempt != nil && s.Type != flowcontrolv1.PriorityLevelEnablementExempt {
		errs = append(errs, field.Forbidden(specPath.Child("exempt"), ""))
	}
	limited := specPath.Child("limited")
	switch {
	case s.Type == flowcontrolv1.PriorityLevelEnablementLimited && s.Limited == nil:
		errs = append(errs, field.Required(limited, ""))
	case s.Type != flowcontrolv1.PriorityLevelEnablementLimited && s.Limited != nil:
		errs = append(errs, field.Forbidden(limited, ""))
	}
	if s.Limited == nil {
		return errs
	}
	r, at := &s.Limited.LimitResponse, limited.Child("limitResponse")
	switch {
	case r.Type == "":
		errs = append(errs, field.Required(at.Child("type"), ""))
	case r.Type == flowcontrolv1.LimitResponseTypeQueue && r.Queuing == nil:
		errs = append(errs, field.Required(at.Child("queuing"), ""))
	case r.Type != flowcontrolv1.LimitResponseTypeQueue && r.Queuing != nil:
		errs = append(errs, field.Forbidden(at.Child("queuing"), ""))
	}
	return errs
}

func validateExempt(e *flowcontrolv1.ExemptPriorityLevelConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := e.NominalConcurrencyShares; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(path.Child("nominalConcurrencyShares"), *n, "must be a non-negative integer"))
	}
	return append(errs, validatePercent(e.LendablePercent, path.Child("lendablePercent"))...)
}

func validatePercent(n *int32, path *field.Path) field.ErrorList {
	if n != nil && (*n < 0 || *n > 100) {
		return field.ErrorList{field.Invalid(path, *n, "must be between 0 and 100, inclusive")}
	}
	return nil
}

func validateLimited(m *flowcontrolv1.LimitedPriorityLevelConfiguration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n := ptr.Deref(m.NominalConcurrencyShares, 0); n < 0 {
		errs = append(errs, field.Invalid(path.Child("nominalConcurrencyShares"), n, "must be a non-negative integer"))
	}
	r, at := &m.LimitResponse, path.Child("limitResponse")
	if r.Type != "" {
		errs = append(errs, rules.Among(at.Child("type"), r.Type, flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject)...)
	}
	if r.Type == flowcontrolv1.LimitResponseTypeQueue && r.Queuing != nil {
		errs = append(errs, validateQueues(r.Queuing, at.Child("queuing"))...)
	}
	errs = append(errs, validatePercent(m.LendablePercent, path.Child("lendablePercent"))...)
	if n := m.BorrowingLimitPercent; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(path.Child("borrowingLimitPercent"), *n, "if specified, must be a non-negative integer"))
	}
	return errs
}

func validateQueues(q *flowcontrolv1.QueuingConfiguration, path *field.Path) field.ErrorList {
	const text = "must be positive"
	var errs field.ErrorList
	if q.QueueLengthLimit <= 0 {
		errs = append(errs, field.Invalid(path.Child("queueLengthLimit"), q.QueueLengthLimit, text))
	}
	switch {
	case q.Queues <= 0:
		errs = append(errs, field.Invalid(path.Child("queues"), q.Queues, text))
	case q.Queues > maxQueues:
		errs = append(errs, field.Invalid(path.Child("queues"), q.Queues, fmt.Sprintf("must not be greater than %d", maxQueues)))
	}
	hand := path.Child("handSize")
	switch {
	case q.HandSize <= 0:
		return append(errs, field.Invalid(hand, q.HandSize, text))
	case q.HandSize > q.Queues:
		return append(errs, field.Invalid(hand, q.HandSize, fmt.Sprintf("should not be greater than queues (%d)", q.Queues)))
	}
	if bits := entropyBits(q.Queues, q.HandSize); bits > maxHashBits {
		errs = append(errs, field.Invalid(hand, q.HandSize, fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", q.Queues, q.HandSize, maxHashBits)))
	}
	return errs
}

// entropyBits is how many bits deal a hand out of a deck: 48 for 8 out of 64.
func entropyBits(deck, hand int32) int {
	return int(math.Ceil(math.Log2(float64(deck)) * float64(hand)))
}
