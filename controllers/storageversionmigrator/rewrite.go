package storageversionmigrator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	migrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// rewrite has the API server write an object as it is: it stores anew what is stored in
// another version. Somebody who wrote or deleted it meanwhile has done the work.
func (r *reconciler) rewrite(ctx context.Context, gvr schema.GroupVersionResource, kind schema.GroupVersionKind, object metav1.PartialObjectMetadata) error {
	version, kindName := kind.ToAPIVersionAndKind()
	body, err := json.Marshal(map[string]any{"apiVersion": version, "kind": kindName, "metadata": map[string]any{"resourceVersion": object.ResourceVersion}})
	if err != nil {
		return fmt.Errorf("encode the patch: %w", err)
	}
	_, err = r.objects.Resource(gvr).Namespace(object.Namespace).Patch(ctx, object.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: name})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// fieldManager owns what migrations write into CustomResourceDefinitions.
const fieldManager = "migration-runner-controller"

var definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// definitionRuns tells the resource's CustomResourceDefinition, if it has one, that its
// objects are being migrated.
func (r *reconciler) definitionRuns(ctx context.Context, m *migrationv1.StorageVersionMigration) error {
	return r.tellDefinition(ctx, m, func(crd *unstructured.Unstructured) map[string]any {
		return map[string]any{"conditions": []any{r.condition(crd, "True", reasonRunning, fmt.Sprintf("Migration %s is running", m.Name))}}
	})
}

// definitionEnds tells it what became of the migration; after a success no object is stored
// in any but the storage version.
func (r *reconciler) definitionEnds(ctx context.Context, m *migrationv1.StorageVersionMigration) error {
	return r.tellDefinition(ctx, m, func(crd *unstructured.Unstructured) map[string]any {
		unchanged := migratingSince(crd) == crd.GetGeneration()
		reason, message := "MigrationFailed", "The migration has failed"
		if holds(m, migrationv1.MigrationSucceeded) {
			reason, message = "MigrationSucceeded", "The migration has succeeded but the stored versions have not been updated due to a generation mismatch"
			if unchanged {
				message = "The migration has succeeded and the stored versions have been updated"
			}
		}
		status := map[string]any{"conditions": []any{r.condition(crd, "False", reason, message)}}
		if version := storageVersion(crd); unchanged && version != "" {
			status["storedVersions"] = []any{version}
		}
		return status
	})
}

func (r *reconciler) condition(crd *unstructured.Unstructured, status, reason, message string) map[string]any {
	return map[string]any{
		"type": "StorageMigrating", "status": status, "reason": reason, "message": message,
		"lastTransitionTime": r.clock.Now().UTC().Format("2006-01-02T15:04:05Z"), "observedGeneration": crd.GetGeneration(),
	}
}

// tellDefinition applies a status to the resource's CustomResourceDefinition; there is
// nothing to tell if it has none.
func (r *reconciler) tellDefinition(ctx context.Context, m *migrationv1.StorageVersionMigration, status func(*unstructured.Unstructured) map[string]any) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(definitionKind)
		key := types.NamespacedName{Name: m.Spec.Resource.Resource + "." + m.Spec.Resource.Group}
		switch err := r.live.Get(ctx, key, crd); {
		case m.Spec.Resource.Group == "" || apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("get the definition: %w", err)
		}
		applied := &unstructured.Unstructured{Object: map[string]any{"status": status(crd)}}
		applied.SetGroupVersionKind(definitionKind)
		applied.SetName(crd.GetName())
		applied.SetResourceVersion(crd.GetResourceVersion())
		return r.client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(fieldManager), client.ForceOwnership)
	})
}

// migratingSince is the generation at which the definition was told of the migration.
func migratingSince(crd *unstructured.Unstructured) int64 {
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return -1
	}
	at := slices.IndexFunc(conditions, func(c any) bool {
		condition, ok := c.(map[string]any)
		return ok && condition["type"] == "StorageMigrating"
	})
	if at < 0 {
		return -1
	}
	generation, ok, err := unstructured.NestedInt64(conditions[at].(map[string]any), "observedGeneration")
	if !ok || err != nil {
		return -1
	}
	return generation
}

// storageVersion names the version in which the definition's objects are stored.
func storageVersion(crd *unstructured.Unstructured) string {
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return ""
	}
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok && version["storage"] == true {
			name, ok := version["name"].(string)
			if ok {
				return name
			}
		}
	}
	return ""
}
