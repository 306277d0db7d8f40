package handlers

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/internal/handover"
)

// sender hands over the events of one watch to a component of the process, in the shape that it asked for.
type sender struct {
	scope *Scope
	to    handover.Sender
	shape negotiation.Shape
}

// senderOf begins to answer a watch; nil: it is to be written, since nobody asked for objects, or for those of a table.
func (s *Scope) senderOf(w http.ResponseWriter, r *http.Request, shape negotiation.Shape) *sender {
	to := handover.SenderOf(w, r)
	if to == nil || shape == negotiation.Table {
		return nil
	}
	to.HandOver()
	addWarnings(w, request.Warnings(r.Context()))
	w.WriteHeader(http.StatusOK)
	return &sender{scope: s, to: to, shape: shape}
}

// follow hands over what a watch tells until its end.
func (h *sender) follow(ctx context.Context, w *registry.Watching, bookmarks bool) error {
	if h.shape == negotiation.Full {
		h.scope.Registry.Sharers.Add(1)
		defer h.scope.Registry.Sharers.Add(-1)
	}
	return w.Follow(ctx, bookmarks, h)
}

// Entry hands over an object.
func (h *sender) Entry(t watch.EventType, e *cache.Entry) error {
	obj, err := h.object(e)
	if err != nil {
		return err
	}
	return h.to.Send(watch.Event{Type: t, Object: obj})
}

// object is the same for all watches of whole objects that are served as they are stored. Metadata alone would not pay for keeping
// the whole: it is taken from it where others share that anyway.
func (h *sender) object(e *cache.Entry) (runtime.Object, error) {
	s := h.scope
	partial := h.shape == negotiation.PartialMetadata
	if s.Resource.FromStorage == nil && (!partial || s.Registry.Sharers.Load() > 0) {
		obj, err := e.Shared()
		if err != nil || !partial {
			return obj, err
		}
		return s.metadataOf(obj.(resource.Object)), nil
	}
	obj, err := s.Registry.Object(&registry.Result{Entry: e})
	if err != nil {
		return nil, err
	}
	obj.SetManagedFields(nil)
	if partial {
		return s.metadataOf(obj), nil
	}
	return obj, nil
}

// Bookmark hands over how far the watch is.
func (h *sender) Bookmark(revision int64, initialEnd bool) error {
	obj := h.scope.bookmark(revision, initialEnd)
	if h.shape == negotiation.PartialMetadata {
		return h.to.Send(watch.Event{Type: watch.Bookmark, Object: h.scope.metadataOf(obj)})
	}
	return h.to.Send(watch.Event{Type: watch.Bookmark, Object: obj})
}

// Flush does nothing: what is handed over can be read.
func (h *sender) Flush() error { return nil }
