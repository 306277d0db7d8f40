package handlers

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// A watch without a timeout of its own lasts between once and twice this.
const watchTimeout = 30 * time.Minute

// watch streams changes until the client goes, its time is over, or the server ends.
func (s *Scope) watch(w http.ResponseWriter, r *http.Request) {
	out, err := negotiation.Negotiate(r, negotiation.Endpoint{Shapes: true, Stream: true, NoProtobuf: s.Resource.Whole})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	o, err := s.listOptions(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	table := &metav1.TableOptions{}
	if out.Shape == negotiation.Table {
		if table, err = tableOptions(r); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	timeout := time.Duration(float64(watchTimeout) * (1 + rand.Float64()))
	if o.TimeoutSeconds != nil && *o.TimeoutSeconds > 0 {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	stop := context.AfterFunc(contextOf(s.handlers.Done), cancel)
	defer stop()
	watching, err := s.Registry.Watch(ctx, s.Info.Namespace, o)
	if err != nil {
		s.watchFailed(w, r, out, err)
		return
	}
	defer watching.Stop()
	if to := s.senderOf(w, r, out.Shape); to != nil {
		_ = to.follow(ctx, watching, o.AllowWatchBookmarks) // it ends as below
		return
	}
	st := &stream{scope: s, w: w, flusher: http.NewResponseController(w), out: out, table: table, warnings: request.Warnings(r.Context())}
	st.open()
	// The client has gone, or its time is over: either way nobody is left to be told.
	_ = watching.Follow(ctx, o.AllowWatchBookmarks, st)
}

// contextOf makes a context of a channel that is closed at the end.
func contextOf(done <-chan struct{}) context.Context { return doneContext{context.Background(), done} }

type doneContext struct {
	context.Context
	done <-chan struct{}
}

func (c doneContext) Done() <-chan struct{} { return c.done }

func (c doneContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

// watchFailed answers a watch that can't begin. A version that is too old is told in the stream, as its first frame.
func (s *Scope) watchFailed(w http.ResponseWriter, r *http.Request, out negotiation.Output, err error) {
	status := toStatus(err)
	if status.Reason != metav1.StatusReasonExpired {
		s.fail(w, r, err)
		return
	}
	if to := s.senderOf(w, r, out.Shape); to != nil {
		_ = to.to.Send(watch.Event{Type: watch.Error, Object: &status}) // the client has gone
		return
	}
	st := &stream{scope: s, w: w, flusher: http.NewResponseController(w), out: out}
	st.open()
	body, encodeErr := encodeAs(out.Media, statusGVK, &status)
	if encodeErr == nil {
		_ = st.frame(watch.Error, body) // the client has gone
		_ = st.flusher.Flush()
	}
}

// stream writes the frames of one watch.
type stream struct {
	scope   *Scope
	w       http.ResponseWriter
	flusher *http.ResponseController
	out     negotiation.Output
	table   *metav1.TableOptions
	buf     []byte

	warnings []string
}

func (st *stream) open() {
	kind := string(st.out.Media)
	if st.out.Media != negotiation.JSON {
		kind += ";stream=watch"
	}
	st.w.Header().Set("Content-Type", kind)
	addWarnings(st.w, st.warnings)
	st.w.WriteHeader(http.StatusOK)
	_ = st.flusher.Flush() // an error shows at the first frame
}

// Flush sends what was written.
func (st *stream) Flush() error { return st.flusher.Flush() }

// Entry writes a frame about an object in the shape that the client asked for.
func (st *stream) Entry(t watch.EventType, e *cache.Entry) error {
	s := st.scope
	switch st.out.Shape {
	case negotiation.Table:
		obj, err := s.Registry.Object(&registry.Result{Entry: e})
		if err != nil {
			return err
		}
		return st.tableFrame(t, obj, e)
	case negotiation.PartialMetadata:
		body, err := s.partialOf(st.out, &registry.Result{Entry: e})
		if err != nil {
			return err
		}
		return st.frame(t, body)
	}
	if st.out.Media == negotiation.JSON {
		body, err := s.Registry.JSON(e)
		if err != nil {
			return err
		}
		st.begin(t)
		st.buf = wire.AppendObject(st.buf, s.head(), body)
		return st.end()
	}
	body, err := s.encodeObject(st.out.Media, &registry.Result{Entry: e})
	if err != nil {
		return err
	}
	return st.frame(t, body)
}

// tableFrame writes a table of one row; only the first frame has the columns.
func (st *stream) tableFrame(t watch.EventType, obj resource.Object, e *cache.Entry) error {
	row, err := st.scope.row(st.table, st.out, obj, e)
	if err != nil {
		return err
	}
	body, err := st.scope.encodeTable(st.table, st.out, &metav1.Table{ListMeta: metav1.ListMeta{ResourceVersion: obj.GetResourceVersion()}, Rows: []metav1.TableRow{row}})
	if err != nil {
		return err
	}
	st.table.NoHeaders = true
	return st.frame(t, body)
}

// Bookmark tells the client that it knows all up to a revision.
func (st *stream) Bookmark(revision int64, initialEnd bool) error {
	obj := st.scope.bookmark(revision, initialEnd)
	switch st.out.Shape {
	case negotiation.Table:
		return st.tableFrame(watch.Bookmark, obj, nil)
	case negotiation.PartialMetadata:
		body, err := encodeAs(st.out.Media, st.out.As.GroupVersion().WithKind("PartialObjectMetadata"), st.scope.metadataOf(obj))
		if err != nil {
			return err
		}
		return st.frame(watch.Bookmark, body)
	}
	body, err := encodeAs(st.out.Media, st.scope.Resource.GVK(), obj)
	if err != nil {
		return err
	}
	return st.frame(watch.Bookmark, body)
}

// bookmark is an object that says how far a watch is, and with initialEnd that its initial objects are over.
func (s *Scope) bookmark(revision int64, initialEnd bool) resource.Object {
	obj := s.Resource.New()
	obj.SetResourceVersion(revisionText(revision))
	if initialEnd {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	return obj
}

// frame writes an event around an encoded object. JSON frames are lines; protobuf frames have their
// length, as four bytes, before them.
func (st *stream) frame(t watch.EventType, body []byte) error {
	if st.out.Media == negotiation.Protobuf {
		st.buf = wire.AppendEvent(st.buf[:0], string(t), body)
		_, err := st.w.Write(st.buf)
		return err
	}
	if n := len(body); n > 0 && body[n-1] == '\n' {
		body = body[:n-1]
	}
	st.begin(t)
	st.buf = append(st.buf, body...)
	return st.end()
}

func (st *stream) begin(t watch.EventType) {
	st.buf = append(st.buf[:0], `{"type":"`...)
	st.buf = append(st.buf, t...)
	st.buf = append(st.buf, `","object":`...)
}

func (st *stream) end() error {
	st.buf = append(st.buf, "}\n"...)
	_, err := st.w.Write(st.buf)
	return err
}
