package volumeprotection

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// carryOut adds or takes off a finalizer. Losing a race is left to the next pass.
func carryOut(ctx context.Context, c client.Client, object client.Object, finalizer string, verdict Verdict) error {
	next, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		panic(fmt.Sprintf("a copy of %T is not an object", object))
	}
	switch verdict {
	case Leave:
		return nil
	case Protect:
		next.SetFinalizers(append(next.GetFinalizers(), finalizer))
	case Release:
		next.SetFinalizers(slices.DeleteFunc(next.GetFinalizers(), func(f string) bool { return f == finalizer }))
	}
	if err := c.Update(ctx, next); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write finalizers: %w", err)
	}
	return nil
}
