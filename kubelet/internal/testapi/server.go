package testapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/rest"
)

// object is what all kinds have.
type object interface {
	runtime.Object
	metav1.Object
}

// kinds are the resources that are kept.
var kinds = map[string]func() object{
	"pods":       func() object { return &v1.Pod{} },
	"nodes":      func() object { return &v1.Node{} },
	"events":     func() object { return &v1.Event{} },
	"configmaps": func() object { return &v1.ConfigMap{} },
	"secrets":    func() object { return &v1.Secret{} },
	"services":   func() object { return &v1.Service{} },
	"leases":     func() object { return &coordinationv1.Lease{} },
}

// Server is the API server of one test.
type Server struct {
	t    testing.TB
	http *httptest.Server

	mu      sync.Mutex
	version int
	objects map[string]map[string]object // by resource, then by namespace/name
	log     []change
	grown   chan struct{} // closed and replaced at each change
}

// change is one entry of the watch log.
type change struct {
	version  int
	resource string
	kind     string
	object   object
}

// New returns a Server that lives as long as the test.
func New(t testing.TB) *Server {
	s := &Server{t: t, objects: map[string]map[string]object{}, grown: make(chan struct{})}
	for resource := range kinds {
		s.objects[resource] = map[string]object{}
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Config reaches the server.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: s.http.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}}
}

// request is a path taken apart.
type request struct {
	resource, namespace, name, subresource string
}

// parse understands /api/v1/… and /apis/GROUP/VERSION/….
func parse(path string) request {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		parts = parts[2:]
	} else {
		parts = parts[3:]
	}
	var r request
	if len(parts) > 2 && parts[0] == "namespaces" {
		r.namespace, parts = parts[1], parts[2:]
	}
	for i, target := range []*string{&r.resource, &r.name, &r.subresource} {
		if i < len(parts) {
			*target = parts[i]
		}
	}
	return r
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := parse(r.URL.Path)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
		return
	}
	if q.resource == "serviceaccounts" && q.subresource == "token" {
		s.token(w, q, body)
		return
	}
	if kinds[q.resource] == nil {
		s.fail(w, apierrors.NewNotFound(schema.GroupResource{Resource: q.resource}, q.name))
		return
	}
	if r.Method == http.MethodGet && q.name == "" {
		if r.URL.Query().Get("watch") != "" {
			s.watch(w, r, q)
			return
		}
		s.list(w, r, q)
		return
	}
	result, err := s.change(r, q, body)
	if err != nil {
		s.fail(w, err)
		return
	}
	s.answer(w, http.StatusOK, result)
}

func (s *Server) change(r *http.Request, q request, body []byte) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.objects[q.resource][q.namespace+"/"+q.name]
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: q.resource}, q.name)
	switch r.Method {
	case http.MethodPost:
		created := kinds[q.resource]()
		if err := json.Unmarshal(body, created); err != nil {
			return nil, err
		}
		return s.create(q, created)
	case http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete:
		if current == nil {
			return nil, missing
		}
	}
	switch r.Method {
	case http.MethodPut:
		updated := kinds[q.resource]()
		if err := json.Unmarshal(body, updated); err != nil {
			return nil, err
		}
		return s.store("MODIFIED", q, updated), nil
	case http.MethodPatch:
		return s.patch(q, current, body)
	case http.MethodDelete:
		return s.remove(q, current, body)
	default:
		return current, nil
	}
}

func (s *Server) create(q request, created object) (object, error) {
	created.SetNamespace(q.namespace)
	if s.objects[q.resource][q.namespace+"/"+created.GetName()] != nil {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: q.resource}, created.GetName())
	}
	created.SetUID(types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", s.version+1)))
	created.SetCreationTimestamp(metav1.Now())
	created.SetGeneration(1)
	q.name = created.GetName()
	return s.store("ADDED", q, created), nil
}

func (s *Server) patch(q request, current object, patch []byte) (object, error) {
	before, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	var named struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(patch, &named); err == nil && named.Metadata.UID != "" && named.Metadata.UID != current.GetUID() {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: q.resource}, q.name, fmt.Errorf("the uid differs"))
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, kinds[q.resource]())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	patched := kinds[q.resource]()
	if err := json.Unmarshal(after, patched); err != nil {
		return nil, err
	}
	return s.store("MODIFIED", q, patched), nil
}

// remove deletes; a pod on a node only with grace 0, else it is marked.
func (s *Server) remove(q request, current object, body []byte) (object, error) {
	var options metav1.DeleteOptions
	if len(body) > 0 {
		if err := json.Unmarshal(body, &options); err != nil {
			return nil, err
		}
	}
	if p := options.Preconditions; p != nil && p.UID != nil && *p.UID != current.GetUID() {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: q.resource}, q.name, fmt.Errorf("the uid differs"))
	}
	pod, isPod := current.DeepCopyObject().(*v1.Pod)
	grace := int64(30)
	if isPod && pod.Spec.TerminationGracePeriodSeconds != nil {
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	if options.GracePeriodSeconds != nil {
		grace = *options.GracePeriodSeconds
	}
	if isPod && pod.Spec.NodeName != "" && grace > 0 {
		at := metav1.NewTime(time.Now().Add(time.Duration(grace) * time.Second))
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, &grace
		return s.store("MODIFIED", q, pod), nil
	}
	gone, ok := current.DeepCopyObject().(object)
	if !ok {
		return nil, fmt.Errorf("copy of %T", current)
	}
	s.store("DELETED", q, gone)
	delete(s.objects[q.resource], q.namespace+"/"+q.name)
	return gone, nil
}

func (s *Server) store(kind string, q request, o object) object {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[q.resource][q.namespace+"/"+q.name] = o
	s.log = append(s.log, change{s.version, q.resource, kind, o})
	close(s.grown)
	s.grown = make(chan struct{})
	return o
}

func (s *Server) token(w http.ResponseWriter, q request, body []byte) {
	var request authenticationv1.TokenRequest
	if err := json.Unmarshal(body, &request); err != nil {
		s.fail(w, err)
		return
	}
	s.mu.Lock()
	s.version++
	request.Status.Token = fmt.Sprintf("token-%d-of-%s", s.version, q.name)
	s.mu.Unlock()
	life := time.Hour
	if seconds := request.Spec.ExpirationSeconds; seconds != nil {
		life = time.Duration(*seconds) * time.Second
	}
	request.Status.ExpirationTimestamp = metav1.NewTime(time.Now().Add(life))
	s.answer(w, http.StatusCreated, &request)
}

func (s *Server) answer(w http.ResponseWriter, code int, o runtime.Object) {
	body, err := encode(o)
	if err != nil {
		s.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if _, err := w.Write(body); err != nil {
		s.t.Log(err) // the kubelet went away
	}
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		status = apierrors.NewInternalError(err)
	}
	sent := status.Status()
	sent.Kind, sent.APIVersion = "Status", "v1"
	s.answer(w, int(sent.Code), &sent)
}
