package inprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/kogge-dev/kogge/internal/handover"
)

func roundTrip(t *testing.T, h http.HandlerFunc, r *http.Request) (*http.Response, error) {
	t.Helper()
	tr := &Transport{Handler: h, Context: func(ctx context.Context) context.Context { return ctx }}
	return tr.RoundTrip(r)
}

func request(t *testing.T, ctx context.Context, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://x/a?b=c", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	resp, err := roundTrip(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-A", "1")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%s %s", r.URL.RequestURI(), b)
	}, request(t, t.Context(), "hello"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || string(b) != "/a?b=c hello" || resp.StatusCode != http.StatusCreated || resp.Header.Get("X-A") != "1" {
		t.Errorf("%q %d %v %v", b, resp.StatusCode, resp.Header, err)
	}
}

func TestPanicIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := roundTrip(t, func(http.ResponseWriter, *http.Request) { panic("oops") }, request(t, t.Context(), "")); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("got %v", err)
	}
}

func TestSlowReaderBlocksTheWriterAndClosingEndsIt(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	resp, err := roundTrip(t, func(w http.ResponseWriter, r *http.Request) {
		n := 0
		chunk := make([]byte, 64<<10)
		for {
			k, err := w.Write(chunk)
			n += k
			if err != nil {
				<-r.Context().Done()
				written <- n
				return
			}
		}
	}, request(t, t.Context(), ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-written; n > bufferSize+2*(64<<10) {
		t.Errorf("the writer ran %d bytes ahead", n)
	}
}

func TestCancelBeforeTheHeader(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := roundTrip(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }, request(t, ctx, ""))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestHandOver: the body is a stream of objects where the handler says so, and bytes where it doesn't, whatever was asked for.
func TestHandOver(t *testing.T) {
	t.Parallel()
	ask := request(t, t.Context(), "")
	ask.Header.Set(handover.Header, "true")
	resp, err := roundTrip(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "bytes") }, ask)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := resp.Body.(handover.Stream); is {
		t.Error("bytes are a stream of objects")
	}
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "bytes" {
		t.Errorf("%q %v", b, err)
	}
	sent := make(chan error, 1)
	resp, err = roundTrip(t, func(w http.ResponseWriter, r *http.Request) {
		to := handover.SenderOf(w, r)
		to.HandOver()
		_ = to.Send(watch.Event{Type: watch.Added})
		for err := error(nil); ; { // until the reader has gone
			if err = to.Send(watch.Event{Type: watch.Modified}); err != nil {
				sent <- err
				return
			}
		}
	}, ask)
	if err != nil {
		t.Fatal(err)
	}
	events := resp.Body.(handover.Stream).Events()
	if e := <-events; e.Type != watch.Added {
		t.Errorf("got %v", e.Type)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("sending to nobody: %v", err)
	}
	for range events { // what was sent before, then the end
	}
}
