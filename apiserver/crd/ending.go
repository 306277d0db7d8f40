package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resources/apiextensions"
)

// patience is how long a deletion waits for objects that finalizers hold before it says so, and begins again.
const patience = time.Minute

// end deletes the objects of a definition that was deleted, and then lets it go.
func (c *Controller) end(ctx context.Context, crd *customResourceDefinition) {
	if crd.DeletionTimestamp == nil || !slices.Contains(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return
	}
	if c.finishing[crd.UID] {
		return
	}
	c.finishing[crd.UID] = true
	s := c.served[crd.Name]
	c.ends.Go(func() {
		for ctx.Err() == nil {
			err := c.finish(ctx, s, crd.DeepCopy())
			if err == nil {
				return
			}
			c.Logger.Warn("objects of a deleted definition", "name", crd.Name, "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	})
}

func terminating(status apiextensionsv1.ConditionStatus, reason, message string) condition {
	return condition{Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message}
}

// finish makes one attempt.
func (c *Controller) finish(ctx context.Context, s *serving, crd *customResourceDefinition) error {
	tell := func(c2 condition, last bool) error {
		fresh, err := c.get(ctx, crd.Name)
		if err != nil || fresh == nil || fresh.UID != crd.UID {
			return err
		}
		apiextensions.SetCondition(fresh, c2, metav1.NewTime(c.Now()))
		if last {
			fresh.Finalizers = slices.DeleteFunc(fresh.Finalizers, func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer })
		}
		return c.writeExact(ctx, fresh)
	}
	if err := tell(terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress"), false); err != nil {
		return err
	}
	if s == nil || !apiextensions.IsTrue(crd, apiextensionsv1.Established) {
		return tell(terminating(apiextensionsv1.ConditionFalse, "NeverEstablished", "resource was never established"), true)
	}
	if err := deleteAll(ctx, s.stored); err != nil {
		return errors.Join(err, tell(terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionFailed", fmt.Sprintf("could not issue all deletes: %v", err)), false))
	}
	if err := awaitEmpty(ctx, s.stored); err != nil {
		return errors.Join(err, tell(terminating(apiextensionsv1.ConditionTrue, "InstanceDeletionCheck", fmt.Sprintf("could not confirm zero CustomResources remaining: %v", err)), false))
	}
	return tell(terminating(apiextensionsv1.ConditionFalse, "InstanceDeletionCompleted", "removed all instances"), true)
}

// writeExact stores a definition's status and finalizers unless another writer was faster, which is an error.
func (c *Controller) writeExact(ctx context.Context, crd *customResourceDefinition) error {
	o := registry.WriteOptions{Manager: manager, Subresource: "status"}
	_, err := c.Definitions.Update(ctx, "", crd.Name, c.replaceBy(crd, o), registry.UpdateOptions{WriteOptions: o})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// deleteAll asks every object to go.
func deleteAll(ctx context.Context, r *registry.Registry) error {
	l, err := r.List(ctx, "", &internalversion.ListOptions{})
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range l.Entries {
		if _, err := r.Delete(ctx, e.Namespace, e.Name, &metav1.DeleteOptions{}, false); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return utilerrors.NewAggregate(errs)
}

// awaitEmpty returns when no object is left.
func awaitEmpty(ctx context.Context, r *registry.Registry) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w, err := r.Watch(ctx, "", &internalversion.ListOptions{})
	if err != nil {
		return err
	}
	defer w.Stop()
	for r.Collection().Len() > 0 {
		if _, err := w.Next(ctx); err != nil {
			return err
		}
	}
	return nil
}
