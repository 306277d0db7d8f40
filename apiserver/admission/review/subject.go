package review

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// World is what a review looks up.
type World interface {
	// Namespace by its name; 404 if there is none.
	Namespace(ctx context.Context, name string) (*corev1.Namespace, error)
	// Versions are all served resources whose objects are stored in the same place, that one included.
	Versions(r *resource.Resource) []*resource.Resource
}

// Subject is a write under review.
type Subject struct {
	*registry.Attributes
	User  *request.User
	World World

	versions  map[schema.GroupVersionResource]*Version
	namespace *corev1.Namespace
}

// New makes the subject of a write.
func New(ctx context.Context, a *registry.Attributes, w World) *Subject {
	s := &Subject{Attributes: a, User: request.UserFrom(ctx), World: w, versions: map[schema.GroupVersionResource]*Version{}}
	if s.User == nil {
		s.User = &request.User{}
	}
	return s
}

// isNamespace: the write is about a namespace itself, which counts as lying in itself.
func (s *Subject) isNamespace() bool {
	return s.Resource.Group == "" && s.Resource.Plural == "namespaces"
}

// NamespaceName is the namespace that the write is in; empty: in none.
func (s *Subject) NamespaceName() string {
	if s.isNamespace() && s.Namespace == "" {
		return s.ObjectName()
	}
	return s.Namespace
}

// ObjectName is the name as the request has it; empty while it is to be generated.
func (s *Subject) ObjectName() string { return s.Name }

// Kind of what is judged.
func (s *Subject) Kind() schema.GroupVersionKind { return kindOf(s.Resource, s.Subresource) }

// kindOf is the kind that an endpoint takes.
func kindOf(r *resource.Resource, subresource string) schema.GroupVersionKind {
	if sub := r.Sub(subresource); sub != nil && !sub.GVK.Empty() {
		return sub.GVK
	}
	return r.GVK()
}

// object and old are what is judged, as the attributes have it.
func (s *Subject) object() runtime.Object {
	if s.Payload != nil {
		return s.Payload
	}
	return present(s.Object)
}

func (s *Subject) old() runtime.Object {
	if s.Payload != nil {
		return s.OldPayload
	}
	return present(s.Old)
}

// present makes a true nil of an interface that holds one.
func present(obj resource.Object) runtime.Object {
	if obj == nil || reflect.ValueOf(obj).IsNil() {
		return nil
	}
	return obj
}

// SurroundingNamespace is the namespace of what is judged; nil if it is in none, or one itself.
func (s *Subject) SurroundingNamespace(ctx context.Context) (*corev1.Namespace, error) {
	if s.namespace != nil || s.Namespace == "" || s.isNamespace() {
		return s.namespace, nil
	}
	ns, err := s.World.Namespace(ctx, s.Namespace)
	if err != nil {
		return nil, err
	}
	s.namespace = ns
	return ns, nil
}

// Forbidden is the error of a write that admission refused; an error that says so already stays as it is.
func (s *Subject) Forbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return err
	}
	return apierrors.NewForbidden(s.Resource.GR(), s.errorName(), err)
}

// Refused is the error of a write that could not be judged; it names the object only if the request does.
func (s *Subject) Refused(err error) error {
	return apierrors.NewForbidden(s.Resource.GR(), s.Name, err)
}

// errorName is how errors call the object.
func (s *Subject) errorName() string {
	if s.Name != "" {
		return s.Name
	}
	obj := s.object()
	if obj == nil {
		return "Unknown"
	}
	named, ok := obj.(resource.Object)
	switch {
	case !ok:
		return "Unknown/errorGettingName"
	case named.GetName() != "":
		return named.GetName()
	case named.GetGenerateName() != "":
		return named.GetGenerateName()
	}
	return "Unknown"
}

// IsVirtual: a question about who somebody is or what one may do. Whoever judged it could break the cluster.
func IsVirtual(r *resource.Resource) bool {
	return r.Question && (r.Group == "authentication.k8s.io" || r.Group == "authorization.k8s.io")
}
