package namespace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// healthy is what each condition says when there is nothing to report, in the order in
// which they stand in the status.
var healthy = []corev1.NamespaceCondition{
	{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
	{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
	{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
	{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
	{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
}

// Conditions gives the conditions that a report asks for. One that says the same as
// before keeps its times.
func Conditions(present []corev1.NamespaceCondition, report *Report, now time.Time) []corev1.NamespaceCondition {
	conditions := slices.Clone(present)
	for _, ok := range healthy {
		next := ok
		next.Status = corev1.ConditionFalse
		if reason, message, bad := report.complaint(ok.Type); bad {
			next.Status, next.Reason, next.Message = corev1.ConditionTrue, reason, message
		}
		next.LastTransitionTime = metav1.NewTime(now)
		at := slices.IndexFunc(conditions, func(c corev1.NamespaceCondition) bool { return c.Type == next.Type })
		if at < 0 {
			conditions = append(conditions, next)
			continue
		}
		if conditions[at].Status == next.Status {
			next.LastTransitionTime = conditions[at].LastTransitionTime
		}
		conditions[at] = next
	}
	return conditions
}

// complaint is what the report has to say under one type of condition.
func (r *Report) complaint(kind corev1.NamespaceConditionType) (reason, message string, bad bool) {
	switch kind {
	case corev1.NamespaceDeletionDiscoveryFailure:
		return "DiscoveryFailed", discoveryMessage(r.DiscoveryError), r.DiscoveryError != nil
	case corev1.NamespaceDeletionGVParsingFailure:
		return "GroupVersionParsingFailed", fmt.Sprint(errors.Join(r.GroupErrors...)), len(r.GroupErrors) > 0
	case corev1.NamespaceDeletionContentFailure:
		messages := make([]string, 0, len(r.ContentErrors))
		for _, err := range r.ContentErrors {
			messages = append(messages, err.Error())
		}
		slices.Sort(messages)
		return "ContentDeletionFailed", fmt.Sprintf("Failed to delete all resource types, %d remaining: %s",
			len(messages), strings.Join(messages, ", ")), len(messages) > 0
	case corev1.NamespaceContentRemaining:
		parts := make([]string, 0, len(r.Remaining))
		for resource, count := range r.Remaining {
			parts = append(parts, fmt.Sprintf("%s.%s has %d resource instances", resource.Resource, resource.Group, count))
		}
		return "SomeResourcesRemain", "Some resources are remaining: " + sortedList(parts), len(parts) > 0
	case corev1.NamespaceFinalizersRemaining:
		parts := make([]string, 0, len(r.Finalizers))
		for finalizer, count := range r.Finalizers {
			parts = append(parts, fmt.Sprintf("%s in %d resource instances", finalizer, count))
		}
		return "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: " + sortedList(parts), len(parts) > 0
	}
	panic(fmt.Sprintf("no condition of type %q is kept here", kind))
}

func sortedList(parts []string) string {
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func discoveryMessage(err error) string {
	if failed, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err); ok {
		return fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(failed.Groups), err)
	}
	return fmt.Sprint(err)
}
