package controllers_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// moment is when the controllers crash: at the so manyth write of a kind. The zero moment never comes.
type moment struct {
	write string // such as "create pods"
	count int    // from 1
	after bool   // the server has it, but its answer never came
}

func (m moment) String() string {
	when := "before"
	if m.after {
		when = "after"
	}
	return fmt.Sprintf("%s %s %d", when, m.write, m.count)
}

// moments are the crashes worth trying for what an undisturbed run wrote: all, or a sample from everywhere.
func moments(writes map[string]int, all bool) []moment {
	var out []moment
	for _, write := range slices.Sorted(maps.Keys(writes)) {
		for n := 1; n <= writes[write]; n++ {
			if all || n == 1 || n == writes[write] {
				out = append(out, moment{write, n, false}, moment{write, n, true})
			}
		}
	}
	if all || len(out) <= sample {
		return out
	}
	var some []moment
	for i := range sample {
		at := i*len(out)/sample&^1 + i%2 // before and after in turn
		if !slices.Contains(some, out[at]) {
			some = append(some, out[at])
		}
	}
	return some
}

// ledger has what the controllers wrote in one run.
type ledger struct {
	run string // the run's namespace

	mu      sync.Mutex
	writes  map[string]int
	strange []string // writes to what belongs to other runs
}

func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.writes)
}

// count is how much was written.
func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, count := range l.writes {
		n += count
	}
	return n
}

func (l *ledger) late() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.strange
}

// enter notes a write, and says how many of the kind there are now.
func (l *ledger) enter(write, path string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes[write]++
	if strings.Contains(path, "crash-") && !strings.Contains(path, l.run) {
		l.strange = append(l.strange, write+" "+path)
	}
	return l.writes[write]
}

// mortal is the transport of one life of the controllers. When it dies, nothing passes any more.
type mortal struct {
	inner http.RoundTripper
	dies  moment
	die   func() // ends the life
	book  *ledger

	mu   sync.Mutex
	dead bool
}

var errDead = errors.New("the controllers are dead")

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	dies, err := m.ask(r)
	if err != nil {
		return nil, err
	}
	response, err := m.inner.RoundTrip(r)
	if dies {
		if err == nil {
			err = response.Body.Close()
		}
		m.die()
		return nil, errors.Join(errDead, err)
	}
	return response, err
}

// ask says whether a request is the last one, or is an error when there is to be none.
func (m *mortal) ask(r *http.Request) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return false, errDead
	}
	write := writeOf(r.Method, r.URL.Path)
	if write == "" {
		return false, nil
	}
	n := m.book.enter(write, r.URL.Path)
	if write != m.dies.write || n != m.dies.count {
		return false, nil
	}
	m.dead = true
	if m.dies.after {
		return true, nil
	}
	m.die()
	return false, errDead
}

// writeOf names what a request writes: its verb and resource. It is empty for reads, questions, and events, which
// nobody promises.
func writeOf(method, path string) string {
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[method]
	parts := strings.Split(strings.Trim(path, "/"), "/")
	start := 2 // api/v1
	if parts[0] == "apis" {
		start = 3
	}
	if verb == "" || len(parts) <= start {
		return ""
	}
	parts = parts[start:]
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "finalize" && parts[2] != "status" {
		parts = parts[2:]
	}
	if parts[0] == "events" || strings.HasSuffix(parts[0], "reviews") {
		return ""
	}
	if len(parts) > 2 {
		return verb + " " + parts[0] + "/" + parts[2]
	}
	return verb + " " + parts[0]
}
