package garbagecollector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// errLookAgain says that the graph hasn't caught up with what was read: an owner exists
// that no watch has delivered yet, so its deletion might never be noticed.
var errLookAgain = errors.New("an owner exists that hasn't been observed yet")

// collect looks at one object and does what is to be done about it. An error means:
// later again.
func (c *collector) collect(ctx context.Context, uid types.UID) error {
	known := c.graph.Item(uid)
	if known == nil {
		return nil
	}
	latest, err := c.at(known.Resource, known.Namespace).Get(ctx, known.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && latest.UID != uid:
		c.queue(c.graph.Forget(uid))
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", known, err)
	}
	item := NewItem(known.Resource, known.Kind, latest)
	if item.Orphaning() {
		return c.orphan(ctx, item)
	}
	owners, unobserved, err := c.classify(ctx, item)
	if err != nil {
		return err
	}
	if err := c.apply(ctx, item, Decide(item, owners, c.graph.Dependents(uid))); err != nil {
		return err
	}
	if unobserved {
		return errLookAgain
	}
	return nil
}

// classify finds out about each owner, from the graph or, where that doesn't know it,
// from the server. An object being deleted isn't kept or lost by its owners any more.
func (c *collector) classify(ctx context.Context, item *Item) (owners []Owner, unobserved bool, err error) {
	if item.Deleting {
		return nil, false, nil
	}
	for _, reference := range item.Owners {
		state, observed, err := c.ownerState(ctx, item, reference)
		if err != nil {
			return nil, false, err
		}
		owners = append(owners, Owner{Reference: reference, State: state})
		unobserved = unobserved || !observed
	}
	return owners, unobserved, nil
}

func (c *collector) ownerState(ctx context.Context, item *Item, reference metav1.OwnerReference) (state OwnerState, observed bool, err error) {
	if known := c.graph.Item(reference.UID); known != nil && known.Is(reference, item.Namespace) {
		if known.Foreground() {
			return Waiting, true, nil
		}
		return Solid, true, nil
	}
	mapped, ok := c.mapping(reference)
	if !ok {
		return 0, false, fmt.Errorf("%s has an owner of unknown kind %s %s", item, reference.APIVersion, reference.Kind)
	}
	namespace := item.Namespace
	switch {
	case !mapped.namespaced:
		namespace = ""
	case namespace == "":
		// A cluster-scoped object can't have such an owner. It is no reason to delete it
		// either; upstream leaves it alone, and so do we.
		return Solid, true, nil
	}
	owner, err := c.at(mapped.resource, namespace).Get(ctx, reference.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && owner.UID != reference.UID:
		return Dangling, true, nil
	case err != nil:
		return 0, false, fmt.Errorf("read owner of %s: %w", item, err)
	}
	if NewItem(mapped.resource, schema.GroupVersionKind{}, owner).Foreground() {
		return Waiting, false, nil
	}
	return Solid, false, nil
}

// apply does what was decided.
func (c *collector) apply(ctx context.Context, item *Item, action Action) error {
	c.queue(action.LookAt)
	switch {
	case action.Finish:
		return c.removeFinalizer(ctx, item, metav1.FinalizerDeleteDependents)
	case len(action.Drop) > 0:
		return c.setOwners(ctx, item, withoutOwners(item.Owners, action.Drop...))
	case action.Delete == "":
		return nil
	}
	version := item.Version
	if action.Unblock {
		if err := c.setOwners(ctx, item, unblocking(item.Owners)); err != nil {
			return err
		}
		version = "" // it has another one now
	}
	options := metav1.DeleteOptions{
		PropagationPolicy: &action.Delete,
		Preconditions:     &metav1.Preconditions{UID: &item.UID},
	}
	if version != "" {
		options.Preconditions.ResourceVersion = &version
	}
	err := c.at(item.Resource, item.Namespace).Delete(ctx, item.Name, options)
	if apierrors.IsNotFound(err) {
		c.queue(c.graph.Forget(item.UID))
		return nil
	}
	return err
}

// orphan lets every dependent go and then finishes the owner.
func (c *collector) orphan(ctx context.Context, owner *Item) error {
	for _, dependent := range c.graph.Dependents(owner.UID) {
		latest, err := c.at(dependent.Resource, dependent.Namespace).Get(ctx, dependent.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && latest.UID != dependent.UID {
			continue
		}
		if err != nil {
			return fmt.Errorf("read dependent %s: %w", dependent, err)
		}
		item := NewItem(dependent.Resource, dependent.Kind, latest)
		left := withoutOwners(item.Owners, owner.UID)
		if len(left) == len(item.Owners) {
			continue
		}
		if err := c.setOwners(ctx, item, left); err != nil {
			return fmt.Errorf("orphan %s: %w", item, err)
		}
	}
	return c.removeFinalizer(ctx, owner, metav1.FinalizerOrphanDependents)
}

// setOwners replaces the owner references of the very version that was read.
func (c *collector) setOwners(ctx context.Context, item *Item, references []metav1.OwnerReference) error {
	return c.patch(ctx, item, "ownerReferences", references)
}

func (c *collector) removeFinalizer(ctx context.Context, item *Item, finalizer string) error {
	left := []string{}
	for _, present := range item.Finalizers {
		if present != finalizer {
			left = append(left, present)
		}
	}
	return c.patch(ctx, item, "finalizers", left)
}

func (c *collector) patch(ctx context.Context, item *Item, field string, value any) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": item.UID, "resourceVersion": item.Version, field: value,
	}})
	if err != nil {
		return fmt.Errorf("encode %s: %w", field, err)
	}
	_, err = c.at(item.Resource, item.Namespace).Patch(ctx, item.Name, types.MergePatchType, body, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *collector) at(resource schema.GroupVersionResource, namespace string) metadata.ResourceInterface {
	if namespace == "" {
		return c.client.Resource(resource)
	}
	return c.client.Resource(resource).Namespace(namespace)
}
