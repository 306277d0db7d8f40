package inprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
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
