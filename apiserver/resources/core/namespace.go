package core

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Namespace is the room that names of other objects are unique in. Its spec.finalizers keep a deleted one until it is empty.
var Namespace = resource.Define(resource.Kind[*corev1.Namespace]{
	Name:  resource.Name{Version: "v1", Kind: "Namespace", Plural: "namespaces", Short: []string{"ns"}},
	List:  &corev1.NamespaceList{},
	Store: "namespaces",
	Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"},
	Default: func(ns *corev1.Namespace) {
		if ns.Name != "" {
			setLabel(ns, corev1.LabelMetadataName, ns.Name)
		}
		if ns.Status.Phase == "" {
			ns.Status.Phase = corev1.NamespaceActive
		}
	},
	Strategy: resource.Strategy[*corev1.Namespace]{
		PrepareForCreate: func(_ context.Context, ns *corev1.Namespace) {
			ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
			setLabel(ns, corev1.LabelMetadataName, ns.Name)
			if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
				ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
			}
		},
		PrepareForUpdate: func(_ context.Context, ns, old *corev1.Namespace) {
			ns.Spec.Finalizers, ns.Status = old.Spec.Finalizers, old.Status
		},
		Validate: func(_ context.Context, ns *corev1.Namespace) field.ErrorList {
			return validateNamespaceFinalizers(ns.Spec.Finalizers)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*corev1.Namespace]{
		PrepareForUpdate: func(_ context.Context, ns, old *corev1.Namespace) { ns.Spec = old.Spec },
		ValidateUpdate: func(_ context.Context, ns, _ *corev1.Namespace) field.ErrorList {
			path := field.NewPath("status", "phase")
			switch {
			case ns.DeletionTimestamp.IsZero() && ns.Status.Phase != corev1.NamespaceActive:
				return field.ErrorList{field.Invalid(path, ns.Status.Phase, "may only be 'Active' if `deletionTimestamp` is empty")}
			case !ns.DeletionTimestamp.IsZero() && ns.Status.Phase != corev1.NamespaceTerminating:
				return field.ErrorList{field.Invalid(path, ns.Status.Phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
			}
			return nil
		},
		ResetFields: []string{"spec"},
	},
	Subresources: []resource.Subresource{{Name: "finalize", Verbs: []string{"update"}}},
	Fields: map[string]func(*corev1.Namespace) string{
		"status.phase": func(ns *corev1.Namespace) string { return string(ns.Status.Phase) },
		"name":         func(ns *corev1.Namespace) string { return ns.Name },
	},
	ValidateName:  apivalidation.ValidateNamespaceName,
	ReturnDeleted: true,
	Held:          func(ns *corev1.Namespace) bool { return len(ns.Spec.Finalizers) > 0 },
	OnDelete: func(ns *corev1.Namespace) {
		ns.Status.Phase = corev1.NamespaceTerminating
		ns.DeletionGracePeriodSeconds = nil
	},
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn, resource.Column("Status", "string", "The status of the namespace"), resource.AgeColumn,
	},
	Row: func(ns *corev1.Namespace) []any {
		return []any{ns.Name, string(ns.Status.Phase), resource.AgeOf(ns)}
	},
})

func setLabel(o metav1.Object, key, value string) {
	l := o.GetLabels()
	if l == nil {
		l = map[string]string{}
	}
	l[key] = value
	o.SetLabels(l)
}

// standardFinalizers are those without a domain.
var standardFinalizers = []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}

func validateNamespaceFinalizers(fs []corev1.FinalizerName) field.ErrorList {
	var errs field.ErrorList
	for _, f := range fs {
		for _, text := range validation.IsQualifiedName(string(f)) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "finalizers"), f, text))
		}
		if !strings.Contains(string(f), "/") && !slices.Contains(standardFinalizers, string(f)) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "finalizers"), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}
