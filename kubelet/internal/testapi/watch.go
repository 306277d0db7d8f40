package testapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// selected applies the field selectors that kubelets use.
func selected(r *http.Request, q request, o object) bool {
	if q.namespace != "" && o.GetNamespace() != q.namespace {
		return false
	}
	selector, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		return false
	}
	set := fields.Set{"metadata.name": o.GetName()}
	if pod, ok := o.(*v1.Pod); ok {
		set["spec.nodeName"] = pod.Spec.NodeName
	}
	return selector.Matches(set)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, q request) {
	s.mu.Lock()
	list := map[string]any{"metadata": map[string]string{"resourceVersion": strconv.Itoa(s.version)}}
	items := []json.RawMessage{}
	for _, o := range s.objects[q.resource] {
		if selected(r, q, o) {
			raw, err := json.Marshal(o)
			if err != nil {
				s.t.Error(err)
			}
			items = append(items, raw)
		}
	}
	s.mu.Unlock()
	list["items"] = items
	kinds, _, err := scheme.Scheme.ObjectKinds(kinds[q.resource]())
	if err != nil {
		s.t.Error(err)
		return
	}
	list["kind"], list["apiVersion"] = kinds[0].Kind+"List", kinds[0].GroupVersion().String()
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(list); err != nil {
		s.t.Log(err)
	}
}

// watch streams changes from a version on; with sendInitialEvents it begins with what there is.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, q request) {
	w.Header().Set("Content-Type", "application/json")
	out := &frames{controller: http.NewResponseController(w), encoder: json.NewEncoder(w)}
	s.mu.Lock()
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil || strings.EqualFold(r.URL.Query().Get("sendInitialEvents"), "true") {
		from = s.version
		for _, o := range s.objects[q.resource] {
			if selected(r, q, o) {
				out.send("ADDED", o)
			}
		}
		bookmark := kinds[q.resource]()
		bookmark.SetResourceVersion(strconv.Itoa(s.version))
		bookmark.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		if r.URL.Query().Get("sendInitialEvents") != "" {
			out.send("BOOKMARK", bookmark)
		}
	}
	s.mu.Unlock()
	out.flush()
	for {
		s.mu.Lock()
		grown := s.grown
		for _, c := range s.log {
			if c.version > from && c.resource == q.resource && selected(r, q, c.object) {
				out.send(c.kind, c.object)
			}
		}
		from = s.version
		s.mu.Unlock()
		out.flush()
		select {
		case <-grown:
		case <-r.Context().Done():
			return
		}
		if out.broken {
			return
		}
	}
}

// frames writes watch events; a client that is gone ends the watch.
type frames struct {
	controller *http.ResponseController
	encoder    *json.Encoder
	broken     bool
}

func (f *frames) send(kind string, o runtime.Object) {
	raw, err := encode(o)
	if err == nil {
		err = f.encoder.Encode(map[string]any{"type": kind, "object": json.RawMessage(raw)})
	}
	f.broken = f.broken || err != nil
}

func (f *frames) flush() { f.broken = f.controller.Flush() != nil || f.broken }

// encode writes an object with its kind.
func encode(o runtime.Object) ([]byte, error) {
	o = o.DeepCopyObject()
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err == nil {
		o.GetObjectKind().SetGroupVersionKind(kinds[0])
	}
	return json.Marshal(o)
}
