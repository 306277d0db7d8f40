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
			switch err := claimer.adopt(ctx, object); {
			case err == nil:
				claimed = append(claimed, object)
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

func (c Claimer) adopt(ctx context.Context, object client.Object) error {
	return c.patch(ctx, object, map[string]any{
		"apiVersion": c.Kind.GroupVersion().String(), "kind": c.Kind.Kind,
		"name": c.Owner.GetName(), "uid": c.Owner.GetUID(),
		"controller": true, "blockOwnerDeletion": true,
	})
}

// release drops the owner's reference. Not found and invalid (the object was
// replaced by another of the same name) both mean that there is nothing to release.
func (c Claimer) release(ctx context.Context, object client.Object) error {
	err := c.patch(ctx, object, map[string]any{"$patch": "delete", "uid": c.Owner.GetUID()})
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// patch writes one owner reference; the object's uid in the patch makes sure that
// it doesn't hit a successor of the same name.
func (c Claimer) patch(ctx context.Context, object client.Object, reference map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": object.GetUID(), "ownerReferences": []any{reference},
	}})
	if err != nil {
		return fmt.Errorf("encode owner reference: %w", err)
	}
	target, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		panic(fmt.Sprintf("a copy of %T is not an object", object))
	}
	return c.Client.Patch(ctx, target, client.RawPatch(types.StrategicMergePatchType, body))
}
