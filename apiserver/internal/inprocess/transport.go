package inprocess

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kogge-dev/kogge/internal/handover"
)

// bufferSize bounds what a handler may write ahead of its reader, in bytes.
const bufferSize = 256 << 10

// eventsAhead is how many events a handler may hand over ahead of their reader.
const eventsAhead = 128

var (
	_ handover.Transport = (*Transport)(nil)
	_ handover.Sender    = (*writer)(nil)
	_ handover.Stream    = stream{}
)

// Transport carries requests into a handler.
type Transport struct {
	Handler http.Handler
	// Context makes the context in which the handler sees the request, of the request's own.
	Context func(context.Context) context.Context
	// Workers run the handler; nil: each request has a goroutine of its own.
	Workers *Workers
}

// HandsOver implements handover.Transport.
func (t *Transport) HandsOver() {}

// RoundTrip runs the handler and returns once it wrote its header.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(t.Context(r.Context()))
	in := r.Clone(ctx)
	in.RemoteAddr, in.RequestURI = "in-process", in.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/2.0", 2, 0
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	p := newPipe(cancel)
	w := &writer{header: http.Header{}, pipe: p, started: make(chan struct{}), gone: ctx.Done()}
	t.Workers.run(func() { t.serve(w, in, cancel) })
	select {
	case <-w.started:
	case <-r.Context().Done():
		p.closeReader()
		return nil, r.Context().Err()
	}
	if w.failed != nil {
		return nil, w.failed
	}
	return w.response(r), nil
}

func (t *Transport) serve(w *writer, r *http.Request, cancel context.CancelFunc) {
	defer cancel()
	defer func() {
		err := io.EOF
		if p := recover(); p != nil {
			err = fmt.Errorf("in-process handler panicked: %v", p)
			w.fail(err)
		}
		w.WriteHeader(http.StatusOK)
		w.pipe.closeWriter(err)
		if w.events != nil {
			close(w.events)
		}
		_ = r.Body.Close() // a request's body has no error to report here
	}()
	t.Handler.ServeHTTP(w, r)
}

// writer is the handler's side of a response.
type writer struct {
	header  http.Header
	pipe    *pipe
	once    sync.Once
	started chan struct{}
	events  chan watch.Event // nil: the body is one of bytes
	gone    <-chan struct{}  // closed when nobody reads any more

	// Set before started is closed.
	code   int
	sent   http.Header
	failed error
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(code int) {
	if code >= 100 && code < 200 && code != http.StatusSwitchingProtocols {
		return
	}
	w.once.Do(func() {
		w.code, w.sent = code, w.header.Clone()
		close(w.started)
	})
}

func (w *writer) fail(err error) {
	w.once.Do(func() {
		w.failed = err
		close(w.started)
	})
}

func (w *writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(b)
}

// HandOver implements handover.Sender.
func (w *writer) HandOver() { w.events = make(chan watch.Event, eventsAhead) }

// Send implements handover.Sender.
func (w *writer) Send(e watch.Event) error {
	w.WriteHeader(http.StatusOK)
	select {
	case w.events <- e:
		return nil
	case <-w.gone:
		return io.ErrClosedPipe
	}
}

// Flush is there for handlers that look for it: what is written can be read at once.
func (w *writer) Flush() { w.WriteHeader(http.StatusOK) }

func (w *writer) response(r *http.Request) *http.Response {
	length := int64(-1)
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	var body io.ReadCloser = reader{w.pipe}
	if w.events != nil {
		body = stream{reader{w.pipe}, w.events}
	}
	return &http.Response{
		Status: strconv.Itoa(w.code) + " " + http.StatusText(w.code), StatusCode: w.code,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: w.sent, Body: body, ContentLength: length, Request: r,
	}
}

type reader struct{ p *pipe }

func (r reader) Read(b []byte) (int, error) { return r.p.Read(b) }

func (r reader) Close() error {
	r.p.closeReader()
	return nil
}

// stream is a body that hands objects over.
type stream struct {
	reader
	events <-chan watch.Event
}

// Events implements handover.Stream.
func (s stream) Events() <-chan watch.Event { return s.events }
