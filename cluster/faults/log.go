package faults

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"
)

// Entry is one request of the log.
type Entry struct {
	Request
	At time.Time
	// Code is the status that was answered; 0: the request is under way, or ended without an answer.
	Code int
	// Duration is how long it took in real time; 0: it is under way.
	Duration time.Duration
}

// log keeps the last requests.
type log struct {
	limit int

	mu   sync.Mutex
	kept []*Entry
	next int // where the next goes once all places are taken
}

// begin notes a request; what it returns notes its end.
func (l *log) begin(r Request, w *recorder) func() {
	e := &Entry{Request: r, At: time.Now()}
	l.mu.Lock()
	if len(l.kept) < l.limit {
		l.kept = append(l.kept, e)
	} else {
		l.kept[l.next] = e
		l.next = (l.next + 1) % l.limit
	}
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		e.Code, e.Duration = w.code, max(time.Since(e.At), 1)
	}
}

func (l *log) all() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Entry, len(l.kept))
	for i := range l.kept {
		out[i] = *l.kept[(l.next+i)%len(l.kept)]
	}
	return out
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	code int
}

// WriteHeader remembers the first final status.
func (r *recorder) WriteHeader(code int) {
	if r.code == 0 && (code >= http.StatusOK || code == http.StatusSwitchingProtocols) {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

// Write is of 200 unless something else was said.
func (r *recorder) Write(b []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap gives what is recorded, for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Flush is for those who look for an http.Flusher. A failure shows at the next write.
func (r *recorder) Flush() { _ = http.NewResponseController(r.ResponseWriter).Flush() }

// Hijack is for those who look for an http.Hijacker; they answer by themselves.
func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.code = http.StatusSwitchingProtocols
	return http.NewResponseController(r.ResponseWriter).Hijack()
}

// lost takes an answer that nobody gets.
type lost struct{ header http.Header }

// Header is kept, and never sent.
func (l *lost) Header() http.Header { return l.header }

// Write drops the bytes.
func (l *lost) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader drops the status.
func (l *lost) WriteHeader(int) {}
