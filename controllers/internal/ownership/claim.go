package ownership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Claimer is an owner together with the means to claim for it.
type Claimer struct {
	Client client.Client
	// Live reads from the API server, past every cache.
	Live     client.Reader
	Owner    client.Object
	Kind     schema.GroupVersionKind
	Selector labels.Selector
	// Finalizers come with the owner's reference and go with it.
	Finalizers []string
}

// Claim adopts and releases as Judge says and returns the objects that the owner
// holds afterwards. Objects that vanish meanwhile are left out silently.
func Claim[T client.Object](ctx context.Context, claimer Claimer, objects []T) ([]T, error) {
	var (
		claimed []T
		failed  []error
		asked   bool
		refusal error
	)
	for _, object := range objects {
		switch Judge(claimer.Owner, claimer.Selector, object) {
		case Keep:
			claimed = append(claimed, object)
		case Adopt:
			if !asked {
				asked, refusal = true, claimer.mayAdopt(ctx)
			}
			if refusal != nil {
				failed = append(failed, refusal)
				continue
			}
			adopted, err := adopt(ctx, claimer, object)
			switch {
			case err == nil:
				claimed = append(claimed, adopted)
			case !apierrors.IsNotFound(err):
				failed = append(failed, fmt.Errorf("adopt %s/%s: %w", object.GetNamespace(), object.GetName(), err))
			}
		case Release:
			if err := claimer.release(ctx, object); err != nil {
				failed = append(failed, fmt.Errorf("release %s/%s: %w", object.GetNamespace(), object.GetName(), err))
			}
		}
	}
	return claimed, errors.Join(failed...)
}

// mayAdopt asks the API server whether the owner is still there and staying.
func (c Claimer) mayAdopt(ctx context.Context) error {
	fresh, ok := c.Owner.DeepCopyObject().(client.Object)
	if !ok {
		panic(fmt.Sprintf("a copy of %T is not an object", c.Owner))
	}
	if err := c.Live.Get(ctx, client.ObjectKeyFromObject(c.Owner), fresh); err != nil {
		return fmt.Errorf("look at the owner before adopting: %w", err)
	}
	if fresh.GetUID() != c.Owner.GetUID() {
		return fmt.Errorf("original %s %s/%s is gone: got uid %s, wanted %s",
			c.Kind.Kind, c.Owner.GetNamespace(), c.Owner.GetName(), fresh.GetUID(), c.Owner.GetUID())
	}
	if fresh.GetDeletionTimestamp() != nil {
		return fmt.Errorf("%s/%s has just been deleted at %s",
			fresh.GetNamespace(), fresh.GetName(), fresh.GetDeletionTimestamp())
	}
	return nil
}

// adopt writes the owner's reference and gives the object as it is then.
func adopt[T client.Object](ctx context.Context, c Claimer, object T) (T, error) {
	metadata := map[string]any{"ownerReferences": []any{map[string]any{
		"apiVersion": c.Kind.GroupVersion().String(), "kind": c.Kind.Kind,
		"name": c.Owner.GetName(), "uid": c.Owner.GetUID(),
		"controller": true, "blockOwnerDeletion": true,
	}}}
	if len(c.Finalizers) > 0 {
		metadata["finalizers"] = c.Finalizers
	}
	return patch(ctx, c, object, metadata)
}

// release drops the owner's reference. Not found and invalid (the object was
// replaced by another of the same name) both mean that there is nothing to release.
func (c Claimer) release(ctx context.Context, object client.Object) error {
	metadata := map[string]any{"ownerReferences": []any{map[string]any{"$patch": "delete", "uid": c.Owner.GetUID()}}}
	if len(c.Finalizers) > 0 {
		metadata["$deleteFromPrimitiveList/finalizers"] = c.Finalizers
	}
	_, err := patch(ctx, c, object, metadata)
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// patch changes metadata; the object's uid in the patch makes sure that it doesn't hit a
// successor of the same name.
func patch[T client.Object](ctx context.Context, c Claimer, object T, metadata map[string]any) (T, error) {
	metadata["uid"] = object.GetUID()
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return object, fmt.Errorf("encode owner reference: %w", err)
	}
	target, ok := object.DeepCopyObject().(T)
	if !ok {
		panic(fmt.Sprintf("a copy of %T is not one", object))
	}
	return target, c.Client.Patch(ctx, target, client.RawPatch(types.StrategicMergePatchType, body))
}
