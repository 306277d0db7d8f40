package apiserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/kogge-dev/kogge/apiserver"
)

// fuzzServer answers what a fuzzer thinks of. Nothing that it is sent may be answered with a failure of the server's own, end
// its goroutine, or cost memory beyond a bound.
type fuzzServer struct {
	client http.RoundTripper
}

// maxAllocated is how many bytes one request may allocate: bodies have up to 3 MiB, and are decoded more than once.
const maxAllocated = 256 << 20

func newFuzzServer(f *testing.F) *fuzzServer {
	f.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	s, err := apiserver.New(context.Background(), apiserver.Options{
		DataDir: f.TempDir(), UnsafeNoFsync: true, ServiceAccountKey: key, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	f.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.Error(err)
		}
	})
	select {
	case <-s.Ready():
	case <-time.After(10 * time.Second):
		f.Fatal("not ready")
	}
	fuzzed := &fuzzServer{s.RoundTripper(apiserver.Identity{Name: "admin", Groups: []string{"system:masters"}})}
	fuzzed.prepare(f, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"default"}}`) // pods want it
	return fuzzed
}

// prepare sends what a target needs beforehand.
func (s *fuzzServer) prepare(f *testing.F, path, body string) {
	f.Helper()
	code, answer, err := s.send(http.MethodPost, path, "application/json", []byte(body))
	if err != nil || code != http.StatusCreated {
		f.Fatalf("%s: %d %s %v", path, code, answer, err)
	}
}

// send sends a request; path may have a query.
func (s *fuzzServer) send(method, path, contentType string, body []byte) (int, []byte, error) {
	return s.sendWith(method, path, http.Header{"Content-Type": {contentType}}, body)
}

func (s *fuzzServer) sendWith(method, path string, header http.Header, body []byte) (int, []byte, error) {
	u, err := url.Parse("https://in-process" + path)
	if err != nil {
		return 0, nil, nil // no client could send it
	}
	r := &http.Request{
		Method: method, URL: u, Header: header, Host: u.Host,
		Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	resp, err := s.client.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}

// try sends a request and judges the answer.
func (s *fuzzServer) try(t *testing.T, method, path, contentType string, body []byte) (code int, answer []byte) {
	t.Helper()
	before := allocated()
	code, answer, err := s.send(method, path, contentType, body)
	used := allocated() - before
	switch {
	case err != nil:
		t.Errorf("%s %s: %v", method, path, err)
	case code >= http.StatusInternalServerError && !asUpstream(string(answer)):
		t.Errorf("%s %s: %d %s", method, path, code, answer)
	case used > maxAllocated:
		t.Errorf("%s %s: %d bytes were allocated", method, path, used)
	case len(answer) > 0 && answer[0] == '{' && !json.Valid(answer):
		t.Errorf("%s %s: no JSON: %s", method, path, answer)
	}
	return code, answer
}

// asUpstream says whether a genuine server, too, answers so with a failure of its own.
func asUpstream(answer string) bool {
	for _, text := range []string{
		"resourceVersion should not be set on objects to be created",
		"Too large resource version", // what is not there yet may come
		"failed to create typed patch object",
		`"message":"strconv.ParseUint: parsing`,
		`"message":"resourceVersion: Invalid value`,
		`"message":"invalid key: \"/`,
	} {
		if strings.Contains(answer, text) {
			return true
		}
	}
	return false
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
