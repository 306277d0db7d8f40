package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

// MaxUnreadable is how many unreadable objects a list's error names, as upstream.
const MaxUnreadable = 100

// corrupt says, as upstream's store does, that what is at a key is no object.
func corrupt(key string, err error) error {
	return fmt.Errorf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %w", key, err)
}

// unreadable is the answer to who asks for an object that can't be read.
func unreadable(err error) error {
	var at *cache.UnreadableError
	if !errors.As(err, &at) {
		return err
	}
	return apierrors.NewInternalError(corrupt("/"+strings.TrimPrefix(at.Key, store.Prefix), at))
}

// readable fails when a list can't be whole: what is missing would look deleted.
func (r *Registry) readable(prefix string) error {
	lost := r.live().Unreadable(prefix)
	if len(lost) == 0 {
		return nil
	}
	return ReadError(r.Resource.GR(), lost, nil)
}

// ReadError is the answer to a list of which some objects can't be read: it names the first hundred. Aborted is why the others were
// not tried, if they weren't.
func ReadError(gr schema.GroupResource, lost []*cache.UnreadableError, aborted error) error {
	d := &metav1.StatusDetails{Name: "list", Group: gr.Group, Kind: gr.Resource}
	for _, at := range lost[:min(len(lost), MaxUnreadable)] {
		d.Causes = append(d.Causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: at.Key, Message: corrupt(at.Key, at).Error()})
	}
	switch {
	case len(lost) >= MaxUnreadable:
		d.Causes = append(d.Causes, metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
	case aborted != nil:
		d.Causes = append(d.Causes, metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Message: aborted.Error()})
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Message: fmt.Sprintf("failed to read one or more %s from the storage: %s", gr, d.Causes[0].Message), Details: d}}
}

// DeleteUnreadable removes an object that can't be read, whatever else depends on it. One that can be read stays.
func (r *Registry) DeleteUnreadable(ctx context.Context, namespace, name string, dryRun bool) error {
	key, err := r.key(namespace, name)
	if err != nil {
		return err
	}
	for {
		page, err := r.Store.Range(ctx, key, key+"\x00", 1, 0)
		if err != nil {
			return err
		}
		if len(page.Items) == 0 {
			return apierrors.NewNotFound(r.Resource.GR(), name)
		}
		if _, err := r.live().ReadEntry(page.Items[0]); err == nil {
			return apierrors.NewConflict(r.Resource.GR(), name, fmt.Errorf(
				"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage", key))
		}
		if dryRun {
			return nil
		}
		_, err = r.Store.Delete(ctx, key, page.Items[0].Revision)
		var changed *store.ConflictError
		if !errors.As(err, &changed) {
			return err
		}
	}
}
