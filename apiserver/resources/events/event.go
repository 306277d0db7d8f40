package events

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// Limits of texts, in bytes.
const (
	maxNote     = 1024
	maxReason   = 128
	maxAction   = 128
	maxInstance = 128
)

// Event is the newer form of a core Event.
var Event = resource.Define(resource.Kind[*eventsv1.Event]{
	Name:     resource.Name{Group: "events.k8s.io", Version: "v1", Kind: "Event", Plural: "events", Short: []string{"ev"}, Namespaced: true},
	List:     &eventsv1.EventList{},
	Store:    "events",
	StoredAs: corev1.SchemeGroupVersion.WithKind("Event"),
	ToStorage: func(o resource.Object) (resource.Object, error) {
		return toCore(o.(*eventsv1.Event)), nil
	},
	FromStorage: func(o resource.Object) (resource.Object, error) {
		return fromCore(o.(*corev1.Event)), nil
	},
	Strategy: resource.Strategy[*eventsv1.Event]{
		Validate:       func(_ context.Context, e *eventsv1.Event) field.ErrorList { return validate(e) },
		ValidateUpdate: func(_ context.Context, e, old *eventsv1.Event) field.ErrorList { return validateUpdate(e, old) },
	},
	Fields:         fields(),
	FieldAliases:   aliases,
	OwnMetadata:    true,
	ErrorKind:      schema.GroupKind{Kind: "Event"},
	CreateOnUpdate: true,
	Propagation:    resource.Unsupported,
	Columns:        core.EventColumns,
	Row:            func(e *eventsv1.Event) []any { return core.EventRow(toCore(e)) },
})

// aliases: what the newer form calls otherwise.
var aliases = map[string]string{
	"regarding.kind": "involvedObject.kind", "regarding.namespace": "involvedObject.namespace", "regarding.name": "involvedObject.name",
	"regarding.uid": "involvedObject.uid", "regarding.apiVersion": "involvedObject.apiVersion", "regarding.resourceVersion": "involvedObject.resourceVersion",
	"regarding.fieldPath": "involvedObject.fieldPath", "reportingController": "reportingComponent",
}

func fields() map[string]func(*eventsv1.Event) string {
	out := map[string]func(*eventsv1.Event) string{}
	for name, get := range core.EventFields {
		out[name] = func(e *eventsv1.Event) string { return get(toCore(e)) }
	}
	return out
}

func toCore(e *eventsv1.Event) *corev1.Event {
	out := &corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Source: e.DeprecatedSource,
		FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount, Type: e.Type,
		EventTime: e.EventTime, Action: e.Action, Related: e.Related, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
	}
	if e.Series != nil {
		out.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}

func fromCore(e *corev1.Event) *eventsv1.Event {
	out := &eventsv1.Event{
		ObjectMeta: e.ObjectMeta, Regarding: e.InvolvedObject, Reason: e.Reason, Note: e.Message, DeprecatedSource: e.Source,
		DeprecatedFirstTimestamp: e.FirstTimestamp, DeprecatedLastTimestamp: e.LastTimestamp, DeprecatedCount: e.Count, Type: e.Type,
		EventTime: e.EventTime, Action: e.Action, Related: e.Related, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
	}
	if e.Series != nil {
		out.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}

// validate judges what the newer form demands beyond the old one.
func validate(e *eventsv1.Event) field.ErrorList {
	var errs field.ErrorList
	if ns := e.Regarding.Namespace; (ns == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem) || (ns != "" && ns != e.Namespace) {
		errs = append(errs, field.Invalid(field.NewPath("involvedObject", "namespace"), ns, "does not match event.namespace"))
	}
	if !e.EventTime.IsZero() {
		// Without the time it counts as an old event, of which no more is asked.
		errs = append(errs, text("reportingController", e.ReportingController, 0)...)
		errs = append(errs, text("reportingInstance", e.ReportingInstance, maxInstance)...)
		errs = append(errs, text("action", e.Action, maxAction)...)
		errs = append(errs, text("reason", e.Reason, maxReason)...)
		if len(e.Note) > maxNote {
			errs = append(errs, field.Invalid(field.NewPath("message"), "", "can have at most 1024 characters"))
		}
	}
	errs = append(errs, apivalidation.ValidateObjectMeta(&e.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	errs = append(errs, resource.ValidateFinalizers(e, field.NewPath("metadata"))...)
	if e.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", "has invalid value: "+e.Type))
	}
	return errs
}

func text(name, value string, most int) field.ErrorList {
	path := field.NewPath(name)
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, "")}
	case most > 0 && len(value) > most:
		return field.ErrorList{field.Invalid(path, "", "can have at most 128 characters")}
	}
	return nil
}

// validateUpdate: only a series grows.
func validateUpdate(e, old *eventsv1.Event) field.ErrorList {
	errs := validate(e)
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"involvedObject", e.Regarding, old.Regarding}, {"reason", e.Reason, old.Reason}, {"message", e.Note, old.Note},
		{"type", e.Type, old.Type}, {"action", e.Action, old.Action}, {"reportingController", e.ReportingController, old.ReportingController},
		{"reportingInstance", e.ReportingInstance, old.ReportingInstance},
	} {
		if f.now != f.was {
			errs = append(errs, field.Invalid(field.NewPath(f.name), f.now, "field is immutable"))
		}
	}
	return errs
}
