package core

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// EventTTL is how long an event is kept, in seconds.
const EventTTL = 60 * 60

var eventDocs = corev1.Event{}.SwaggerDoc()

// Event is a report of something that happened. It goes by itself; events.k8s.io shows the same objects.
var Event = resource.Define(resource.Kind[*corev1.Event]{
	Name:  resource.Name{Version: "v1", Kind: "Event", Plural: "events", Short: []string{"ev"}, Namespaced: true},
	List:  &corev1.EventList{},
	Store: "events",
	Strategy: resource.Strategy[*corev1.Event]{
		Validate:       func(_ context.Context, e *corev1.Event) field.ErrorList { return validateEvent(e) },
		ValidateUpdate: func(_ context.Context, e, _ *corev1.Event) field.ErrorList { return validateEvent(e) },
	},
	Fields:         EventFields,
	OwnMetadata:    true,
	CreateOnUpdate: true,
	Propagation:    resource.Unsupported,
	TTL:            func(*corev1.Event) int64 { return EventTTL },
	Columns:        EventColumns,
	Row:            EventRow,
})

// EventFields are what events are selected by, in both their versions.
var EventFields = map[string]func(*corev1.Event) string{
	"involvedObject.kind":            func(e *corev1.Event) string { return e.InvolvedObject.Kind },
	"involvedObject.namespace":       func(e *corev1.Event) string { return e.InvolvedObject.Namespace },
	"involvedObject.name":            func(e *corev1.Event) string { return e.InvolvedObject.Name },
	"involvedObject.uid":             func(e *corev1.Event) string { return string(e.InvolvedObject.UID) },
	"involvedObject.apiVersion":      func(e *corev1.Event) string { return e.InvolvedObject.APIVersion },
	"involvedObject.resourceVersion": func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion },
	"involvedObject.fieldPath":       func(e *corev1.Event) string { return e.InvolvedObject.FieldPath },
	"reason":                         func(e *corev1.Event) string { return e.Reason },
	"reportingComponent":             func(e *corev1.Event) string { return e.ReportingController },
	"source":                         func(e *corev1.Event) string { return or(e.Source.Component, e.ReportingController) },
	"type":                           func(e *corev1.Event) string { return e.Type },
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// EventColumns of both versions.
var EventColumns = []metav1.TableColumnDefinition{
	resource.Column("Last Seen", "string", eventDocs["lastTimestamp"]),
	resource.Column("Type", "string", eventDocs["type"]),
	resource.Column("Reason", "string", eventDocs["reason"]),
	resource.Column("Object", "string", eventDocs["involvedObject"]),
	resource.WideColumn("Subobject", "string", corev1.ObjectReference{}.SwaggerDoc()["fieldPath"]),
	resource.WideColumn("Source", "string", eventDocs["source"]),
	resource.Column("Message", "string", eventDocs["message"]),
	resource.WideColumn("First Seen", "string", eventDocs["firstTimestamp"]),
	resource.WideColumn("Count", "string", eventDocs["count"]),
	{Name: "Name", Type: "string", Format: "name", Priority: 1, Description: resource.NameColumn.Description},
}

// EventRow shows an event.
func EventRow(e *corev1.Event) []any {
	first := resource.Age(e.FirstTimestamp)
	if e.FirstTimestamp.IsZero() {
		first = resource.Age(metav1.Time{Time: e.EventTime.Time})
	}
	last := resource.Age(e.LastTimestamp)
	if e.LastTimestamp.IsZero() {
		last = first
	}
	count := max(e.Count, 1)
	if e.Series != nil {
		last, count = resource.Age(metav1.Time{Time: e.Series.LastObservedTime.Time}), e.Series.Count
	}
	target := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		target += "/" + e.InvolvedObject.Name
	}
	source := or(e.Source.Component, e.ReportingController)
	if host := or(e.Source.Host, e.ReportingInstance); host != "" {
		source += ", " + host
	}
	return []any{last, e.Type, e.Reason, target, e.InvolvedObject.FieldPath, source, strings.TrimSpace(e.Message), first, int64(count), e.Name}
}

// validateEvent: an event is in its object's namespace; one of an object without a namespace is in default or kube-system.
func validateEvent(e *corev1.Event) field.ErrorList {
	var errs field.ErrorList
	in := e.InvolvedObject.Namespace
	path := field.NewPath("involvedObject", "namespace")
	switch {
	case in == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem:
		errs = append(errs, field.Invalid(path, in, "does not match event.namespace"))
	case in != "" && in != e.Namespace:
		errs = append(errs, field.Invalid(path, in, "does not match event.namespace"))
	}
	for _, text := range validation.IsDNS1123Subdomain(e.Namespace) {
		errs = append(errs, field.Invalid(field.NewPath("namespace"), e.Namespace, text))
	}
	return errs
}
