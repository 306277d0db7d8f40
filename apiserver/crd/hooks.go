package crd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

type tree = *unstructured.Unstructured

// hooks are the rules of the objects' own endpoint.
func (v *version) hooks() resource.Hooks {
	s := resource.Strategy[tree]{
		PrepareForCreate: func(_ context.Context, u tree) {
			if v.hasStatus() {
				delete(u.Object, "status")
			}
			u.SetGeneration(1)
		},
		PrepareForUpdate: func(_ context.Context, u, old tree) {
			if v.hasStatus() {
				keepStatus(u, old)
			}
			if !equality.Semantic.DeepEqual(withoutMetadata(u), withoutMetadata(old)) {
				u.SetGeneration(old.GetGeneration() + 1)
			}
		},
		Validate:         func(ctx context.Context, u tree) field.ErrorList { return v.validateCreate(ctx, u) },
		ValidateUpdate:   func(ctx context.Context, u, old tree) field.ErrorList { return v.validateUpdate(ctx, u, old) },
		WarningsOnCreate: func(_ context.Context, u tree) []string { return finalizerWarnings(u, nil) },
		WarningsOnUpdate: func(_ context.Context, u, old tree) []string { return finalizerWarnings(u, old.GetFinalizers()) },
	}
	if v.hasStatus() {
		s.ResetFields = []string{"status"}
	}
	return resource.Erase(s)
}

// statusHooks are those of the status endpoint, which changes nothing else.
func (v *version) statusHooks() resource.Hooks {
	return resource.Erase(resource.Strategy[tree]{
		PrepareForUpdate: func(_ context.Context, u, old tree) {
			status, given := u.Object["status"]
			managed := u.GetManagedFields()
			u.Object = old.DeepCopy().Object
			u.SetManagedFields(managed)
			delete(u.Object, "status")
			if given {
				u.Object["status"] = status
			}
		},
		ValidateUpdate: func(ctx context.Context, u, old tree) field.ErrorList { return v.validateStatus(ctx, u, old) },
		ResetFields:    []string{"metadata", "spec"},
	})
}

func keepStatus(u, old tree) {
	if status, ok := old.Object["status"]; ok {
		u.Object["status"] = status
		return
	}
	delete(u.Object, "status")
}

func withoutMetadata(u tree) map[string]any {
	out := maps.Clone(u.Object)
	delete(out, "metadata")
	return out
}

// finalizerWarnings advises on the names of finalizers that were not there before.
func finalizerWarnings(u tree, before []string) []string {
	var out []string
	added := slices.DeleteFunc(slices.Clone(u.GetFinalizers()), func(f string) bool { return slices.Contains(before, f) })
	slices.Sort(added)
	for _, f := range slices.Compact(added) {
		for _, bad := range validation.IsQualifiedName(f) {
			out = append(out, fmt.Sprintf("metadata.finalizers: %q: %s", f, bad))
		}
		if strings.Contains(f, "/") || slices.Contains([]string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}, f) {
			continue
		}
		how := "domain-qualified finalizer name"
		if strings.Contains(f, ".") {
			how += " including a path (/)"
		}
		out = append(out, fmt.Sprintf("metadata.finalizers: %q: prefer a %s to avoid accidental conflicts with other finalizer writers", f, how))
	}
	return out
}
