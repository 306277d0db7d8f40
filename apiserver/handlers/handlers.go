package handlers

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/authn"
	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// writeTimeout bounds every request but watches and streams.
const writeTimeout = 34 * time.Second

// Special serves a subresource by rules of its own, such as pods/log.
type Special func(w http.ResponseWriter, r *http.Request, s *Scope)

// Options of the handlers.
type Options struct {
	Scheme *runtime.Scheme
	Logger *slog.Logger
	// Done ends open watches.
	Done <-chan struct{}
	// Tokens signs ServiceAccounts' tokens.
	Tokens *authn.ServiceAccounts
	// Kubelets is how logs and streams of pods are reached.
	Kubelets Kubelets
	// PodDial reaches addresses of pods; nil: the plain network.
	PodDial Dial
	// Authenticator and Authorizer answer questions about who somebody is, and what they may do.
	Authenticator *authn.Authenticator
	Authorizer    authz.Authorizer
}

// Handlers serves all resources. Resources may be added while it serves.
type Handlers struct {
	Options
	decoders decoders
	kubelets *kubelets
	pods     *http.Transport // for what is proxied to them
	// specials by "resource/subresource" of the core group, or "resource.group/subresource".
	specials map[string]Special

	mu         sync.RWMutex
	scopes     map[schema.GroupVersionResource]*Scope
	registries map[schema.GroupResource]*registry.Registry
}

// New makes handlers without any resource.
func New(o Options) *Handlers {
	h := &Handlers{Options: o, decoders: newDecoders(o.Scheme), kubelets: newKubelets(o.Kubelets), pods: newProxyTransport(o.PodDial),
		scopes: map[schema.GroupVersionResource]*Scope{}, registries: map[schema.GroupResource]*registry.Registry{}}
	h.specials = map[string]Special{
		"pods/binding":          bind,
		"pods/eviction":         evict,
		"pods/log":              h.log,
		"pods/exec":             h.stream("exec", func() runtime.Object { return &corev1.PodExecOptions{} }),
		"pods/proxy":            h.proxied(func(p string) runtime.Object { return &corev1.PodProxyOptions{Path: p} }, h.podTarget),
		"services/proxy":        h.proxied(func(p string) runtime.Object { return &corev1.ServiceProxyOptions{Path: p} }, h.serviceTarget),
		"nodes/proxy":           h.proxied(func(p string) runtime.Object { return &corev1.NodeProxyOptions{Path: p} }, h.nodeTarget),
		"pods/attach":           h.stream("attach", func() runtime.Object { return &corev1.PodAttachOptions{} }),
		"pods/portforward":      h.stream("portForward", func() runtime.Object { return &corev1.PodPortForwardOptions{} }),
		"namespaces/finalize":   finalize,
		"serviceaccounts/token": h.token,
	}
	return h
}

// Add serves a resource through its registry.
func (h *Handlers) Add(r *registry.Registry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scopes[r.Resource.GVR()] = &Scope{Registry: r, Resource: r.Resource, handlers: h}
	h.registries[r.Resource.GR()] = r
}

// Swap serves resources in place of others, all at once.
func (h *Handlers) Swap(gone []schema.GroupVersionResource, rs ...*registry.Registry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, gvr := range gone {
		delete(h.scopes, gvr)
	}
	for _, r := range rs {
		h.scopes[r.Resource.GVR()] = &Scope{Registry: r, Resource: r.Resource, handlers: h}
	}
}

// Answer serves a resource of which nothing is stored.
func (h *Handlers) Answer(r *resource.Resource) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scopes[r.GVR()] = &Scope{Resource: r, handlers: h}
}

// Observe serves a resource whose objects are found out when they are asked for, by list.
func (h *Handlers) Observe(r *resource.Resource, list Observer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scopes[r.GVR()] = &Scope{Resource: r, observe: list, handlers: h}
}

// Registry gives the registry of a resource, or nil.
func (h *Handlers) Registry(gvr schema.GroupVersionResource) *registry.Registry {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if s := h.scopes[gvr]; s != nil {
		return s.Registry
	}
	return nil
}

// RegistryOf gives the registry of a resource in any of its versions, or nil.
func (h *Handlers) RegistryOf(gr schema.GroupResource) *registry.Registry {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.registries[gr]
}

// Scope is one endpoint: a resource, and a subresource if the path names one.
type Scope struct {
	Registry *registry.Registry
	Resource *resource.Resource
	Sub      *resource.Subresource // nil: the resource itself
	Info     *request.Info

	observe  Observer // of a resource of which nothing is stored
	handlers *Handlers
}

// subresource is its name, or empty.
func (s *Scope) subresource() string {
	if s.Sub == nil {
		return ""
	}
	return s.Sub.Name
}

// gvk is what the endpoint takes and gives.
func (s *Scope) gvk() schema.GroupVersionKind {
	if s.Sub != nil && !s.Sub.GVK.Empty() {
		return s.Sub.GVK
	}
	return s.Resource.GVK()
}

// scope finds the endpoint of a request; nil if there is none.
func (h *Handlers) scope(i *request.Info) *Scope {
	h.mu.RLock()
	base := h.scopes[schema.GroupVersionResource{Group: i.Group, Version: i.Version, Resource: i.Resource}]
	h.mu.RUnlock()
	if base == nil {
		return nil
	}
	s := *base
	s.Info = i
	if i.Subresource != "" {
		if s.Sub = s.Resource.Sub(i.Subresource); s.Sub == nil {
			return nil
		}
	}
	return &s
}

// ServeHTTP serves a request for a resource.
func (h *Handlers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i := request.InfoFrom(r.Context())
	s := h.scope(i)
	if s == nil || !s.fits() {
		h.missing(w, r, i)
		return
	}
	if !negotiation.Accepts(r) {
		NotAcceptable(w, r)
		return
	}
	if s.Sub != nil {
		if special := h.specials[specialKey(s)]; special != nil {
			special(w, r, s)
			return
		}
	}
	if s.Resource.Question {
		h.answer(w, r, s)
		return
	}
	handle := s.handler(r.Method)
	if handle == nil && s.Sub != nil && s.Resource.Whole {
		s.fail(w, r, apierrors.NewMethodNotSupported(s.Resource.GR(), i.Verb))
		return
	}
	if handle == nil {
		NotAllowed(w, r)
		return
	}
	if s.Resource.Deprecated != "" {
		request.Warn(r.Context(), s.Resource.Deprecated)
	}
	handle(w, r)
}

// missing answers for a path that no resource is at. Of what is below a custom resource's object it names the object.
func (h *Handlers) missing(w http.ResponseWriter, r *http.Request, i *request.Info) {
	h.mu.RLock()
	base := h.scopes[schema.GroupVersionResource{Group: i.Group, Version: i.Version, Resource: i.Resource}]
	custom := i.Group != ""
	for gvr, s := range h.scopes {
		custom = custom && (gvr.Group != i.Group || s.Resource.Whole)
	}
	h.mu.RUnlock()
	switch {
	case base != nil && base.Resource.Whole && i.Subresource != "":
		Error(w, r, apierrors.NewNotFound(base.Resource.GR(), i.Name))
	case custom:
		http.NotFound(w, r) // of a group that it has only from definitions a genuine server speaks in plain text
	default:
		NotFound(w, r)
	}
}

// specialKey is under which a special handler is found.
func specialKey(s *Scope) string {
	return s.Resource.GR().String() + "/" + s.Sub.Name
}

// fits says whether the path has the form of the resource's scope.
func (s *Scope) fits() bool {
	i := s.Info
	if s.Sub == nil && len(i.Parts) > 1 {
		return false
	}
	if !s.Resource.Namespaced && i.Namespace != "" && s.Resource.Kind != "Namespace" {
		return false
	}
	// An object in no namespace has a path only for lists of all namespaces.
	if s.Resource.Whole && s.Resource.Namespaced && i.Namespace == "" {
		return i.Verb == "list" || i.Verb == "watch"
	}
	return !s.Resource.Namespaced || i.Namespace != "" || len(i.Parts) == 0
}

// handler gives the handler of a method, or nil when it is not allowed here.
func (s *Scope) handler(method string) http.HandlerFunc {
	if s.Sub != nil {
		return s.subHandler(method)
	}
	named := len(s.Info.Parts) > 0
	all := s.Resource.Namespaced && s.Info.Namespace == ""
	if s.Resource.Observed {
		return s.observed(method, named)
	}
	switch {
	case s.Info.Verb == "watch" && method == http.MethodGet:
		return s.watch
	case method == http.MethodGet && named:
		return s.get
	case method == http.MethodGet:
		return s.list
	case method == http.MethodPost && !named && !all:
		return s.create
	case method == http.MethodPut && named:
		return s.update
	case method == http.MethodPatch && named:
		return s.patch
	case method == http.MethodDelete && named:
		return s.delete
	case method == http.MethodDelete && !all && s.may("deletecollection"):
		return s.deleteCollection
	}
	return nil
}

func (s *Scope) subHandler(method string) http.HandlerFunc {
	switch {
	case s.Sub.Scale != nil:
		return s.scaleHandler(method)
	case s.Sub.Hooks == nil:
		return nil
	case method == http.MethodGet:
		return s.get
	case method == http.MethodPut:
		return s.update
	case method == http.MethodPatch:
		return s.patch
	}
	return nil
}

// may says whether the resource has the verb.
func (s *Scope) may(verb string) bool {
	for _, v := range s.Resource.Verbs {
		if v == verb {
			return true
		}
	}
	return false
}
