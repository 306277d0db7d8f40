package component

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// conflictDelay is how long a pass that lost a race waits before it looks again:
// long enough for the winner's write to arrive, too short to be noticed.
const conflictDelay = 10 * time.Millisecond

// Quietly wraps a reconciler so that losing a race is not reported as an error:
// a conflict means only that somebody else wrote first, and the next pass sees
// what. Writes into a namespace that is being deleted can never succeed, so they
// are not tried again.
func Quietly(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		result, err := inner.Reconcile(ctx, request)
		switch {
		case apierrors.IsConflict(err):
			return reconcile.Result{RequeueAfter: conflictDelay}, nil
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			return reconcile.Result{}, nil
		}
		return result, err
	})
}
