package stages

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// patchTypes by the names that Stages have for them.
var patchTypes = map[string]types.PatchType{
	"json": types.JSONPatchType, "merge": types.MergePatchType, "strategic": types.StrategicMergePatchType, "apply": types.ApplyPatchType,
}

// errTemplate: what a template makes can't be used; to try again makes no difference.
var errTemplate = errors.New("template")

// play does the steps of a scene that are not done yet. It gives the version that the last write made of the object. One that is gone, or
// has changed since, is no error: what comes next is judged by its next event.
func (c *cast) play(ctx context.Context, o object, next *scene) (wrote uint64, err error) {
	for ; next.step < len(next.stage.steps); next.step++ {
		s := &next.stage.steps[next.step]
		version, gone, err := c.do(ctx, o, s)
		wrote = max(wrote, version)
		switch {
		case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
			return wrote, nil
		case err != nil:
			return wrote, fmt.Errorf("step %d: %w", next.step, err)
		case gone:
			return wrote, nil
		}
	}
	return wrote, nil
}

// do does one step: event, finalizers, and then one of deletion, patch and apply.
func (c *cast) do(ctx context.Context, o object, s *step) (wrote uint64, gone bool, err error) {
	if s.Event != nil {
		c.tell(o, s.Event)
	}
	if s.Finalizers != nil {
		body, err := s.Finalizers.patch(o)
		if err == nil && body != nil {
			wrote, err = c.player.writer.patch(ctx, c.resource, o, types.JSONPatchType, body, "", nil)
		}
		if err != nil {
			return wrote, false, err
		}
	}
	switch {
	case s.Delete:
		return wrote, true, c.player.writer.delete(ctx, c.resource, o)
	case s.Patch != nil:
		body, err := s.body(c.player.world, o)
		if err != nil {
			return wrote, false, errors.Join(errTemplate, err)
		}
		if body == nil {
			return wrote, false, nil
		}
		version, err := c.player.writer.patch(ctx, c.resource, o, patchTypes[s.patchType], body, s.Patch.Subresource, s.impersonation)
		return max(wrote, version), false, err
	case s.Apply != nil:
		body, err := s.text.render(c.player.world, o)
		if err != nil {
			return wrote, false, errors.Join(errTemplate, err)
		}
		return wrote, false, c.player.writer.apply(ctx, textAt(o, "metadata", "namespace"), patchTypes[s.patchType], body, s.Apply.Subresource, s.impersonation)
	}
	return wrote, false, nil
}

// tell sends an event about an object.
func (c *cast) tell(o object, e *Event) {
	kind := e.Type
	if kind == "" {
		kind = corev1.EventTypeNormal
	}
	c.events.Event(&corev1.ObjectReference{
		APIVersion: c.kind.GroupVersion().String(), Kind: c.kind.Kind, Namespace: textAt(o, "metadata", "namespace"),
		Name: textAt(o, "metadata", "name"), UID: types.UID(textAt(o, "metadata", "uid")), ResourceVersion: textAt(o, "metadata", "resourceVersion"),
	}, kind, e.Reason, e.Message)
}

// worthAnotherTry: not what the server or a template refuses, which it would again. An address that is missing may be free later.
func worthAnotherTry(err error) bool {
	switch {
	case errors.Is(err, errNoAddress):
		return true
	case errors.Is(err, errTemplate), errors.Is(err, errNoKind):
		return false
	case apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsServiceUnavailable(err), apierrors.IsInternalError(err):
		return true
	}
	var refused apierrors.APIStatus
	return !errors.As(err, &refused)
}
