package guarantees

import (
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
)

// recorder collects a history from many clients.
type recorder struct {
	clock  atomic.Int64 // ticks at each request and answer
	writes atomic.Int64 // numbers of writes

	mu      sync.Mutex
	history History
}

func (r *recorder) now() int64 { return r.clock.Add(1) }

func (r *recorder) wrote(w Write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Writes = append(r.history.Writes, w)
}

func (r *recorder) read(x Read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Reads = append(r.history.Reads, x)
}

func (r *recorder) watched(w Watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history.Watchers = append(r.history.Watchers, w)
}

// metadata is what is read of an object.
type metadata struct {
	Name            string            `json:"name,omitempty"`
	UID             string            `json:"uid,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

type body struct {
	APIVersion string   `json:"apiVersion,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Metadata   metadata `json:"metadata"`
	Items      []body   `json:"items,omitempty"`
}

// Labels of what is written: the write's number, and the color that follows from it.
const (
	writeLabel = "write"
	colorLabel = "color"
)

// labels of what a write makes.
func labels(write int64) map[string]string {
	return map[string]string{writeLabel: strconv.FormatInt(write, 10), colorLabel: Color(write)}
}

func (b *body) object() (Object, error) {
	o := Object{Name: b.Metadata.Name, UID: b.Metadata.UID}
	var err error
	if o.Version, err = strconv.ParseInt(b.Metadata.ResourceVersion, 10, 64); err != nil {
		return o, err
	}
	if text := b.Metadata.Labels[writeLabel]; text != "" {
		o.Write, err = strconv.ParseInt(text, 10, 64)
	}
	return o, err
}

func decode(data []byte) (Object, error) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return Object{}, err
	}
	return b.object()
}
