package guarantees

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watchClient watches a kind until it is told to stop, and goes on after each interruption where it was.
type watchClient struct {
	t       *testing.T
	server  *server
	kind    resource
	filter  Filter
	initial bool  // each time from the objects that there are
	seconds int   // how long one request lasts
	until   int64 // a bookmark of this version ends it; 0: none does
}

// run watches from a version until ctx ends, and returns what came.
func (c *watchClient) run(ctx context.Context, from int64) Watcher {
	var out Watcher
	for ctx.Err() == nil {
		w := Watch{Kind: c.kind.kind, Filter: c.filter, From: from, Initial: c.initial}
		if c.once(ctx, &w); len(w.Events) > 0 {
			out = append(out, w)
			from = max(from, w.Events[len(w.Events)-1].Object.Version)
			continue
		}
		select { // the server is away, or all is quiet
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return out
}

func (c *watchClient) query(from int64) string {
	q := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}, "timeoutSeconds": {fmt.Sprint(c.seconds)}}
	switch {
	case c.initial:
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", "NotOlderThan")
	default:
		q.Set("resourceVersion", fmt.Sprint(from))
	}
	if c.filter.Color != "" {
		q.Set("labelSelector", colorLabel+"="+c.filter.Color)
	}
	if c.filter.Name != "" {
		q.Set("fieldSelector", "metadata.name="+c.filter.Name)
	}
	return q.Encode()
}

// once makes one request and records its frames until it ends, however that is.
func (c *watchClient) once(ctx context.Context, w *Watch) {
	resp, err := c.server.request(ctx, http.MethodGet, c.kind.path+"?"+c.query(w.From), "", nil)
	if err != nil {
		return // it is being killed or started
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		c.t.Logf("watch of %s: %s", c.kind.kind, resp.Status)
		return
	}
	frames := bufio.NewScanner(resp.Body)
	frames.Buffer(nil, 1<<20)
	for frames.Scan() {
		e, err := frame(frames.Bytes())
		if err != nil {
			if ctx.Err() == nil && json.Valid(frames.Bytes()) { // else the last frame was cut off by the end
				c.t.Errorf("watch of %s from %d: %v", c.kind.kind, w.From, err)
			}
			return
		}
		w.Events = append(w.Events, e)
		if c.until > 0 && e.Type == Bookmark && e.Object.Version >= c.until {
			return
		}
	}
}

func frame(line []byte) (Event, error) {
	var f struct {
		Type   EventType
		Object body
	}
	if err := json.Unmarshal(line, &f); err != nil {
		return Event{}, err
	}
	o, err := f.Object.object()
	if err != nil || f.Type == "ERROR" {
		return Event{}, fmt.Errorf("%s: %w", line, err)
	}
	return Event{Type: f.Type, Object: o, InitialEnd: f.Object.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true"}, nil
}
