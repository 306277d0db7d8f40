package registry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Operation is what a write does, as admission names it.
type Operation string

// The operations.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes of a write that admission judges.
type Attributes struct {
	Operation   Operation
	Resource    *resource.Resource
	Subresource string
	Namespace   string
	Name        string
	Object, Old resource.Object
	DryRun      bool
	// Payload and OldPayload are what is judged where that is another thing than the object: a Scale, the options of a
	// connection. Nil: it is the object.
	Payload, OldPayload runtime.Object
	// Options of the request, such as CreateOptions; nil for a connection.
	Options runtime.Object
	// Again is what plugins that run a second time need to know. It lives as long as the mutation of one write.
	Again *Again
}

// Again lets mutating plugins see what others changed after them: when one wants it, all run a second time.
type Again struct {
	// Wanted by a plugin that changed the object.
	Wanted bool
	// Running: this is the second time.
	Running bool
	// Kept by plugins between the two, by their names.
	Kept map[string]any
}

// Admission changes and judges writes.
type Admission interface {
	Mutate(ctx context.Context, a *Attributes) error
	Validate(ctx context.Context, a *Attributes) error
}

// View is another form of an object.
type View struct {
	// Show makes the form of the object.
	Show func(obj resource.Object) (runtime.Object, error)
	// Take puts a changed form into the object.
	Take func(obj resource.Object, changed runtime.Object) error
}

// attributes of a write; old is nil when it creates.
func (r *Registry) attributes(namespace string, obj, old resource.Object, o WriteOptions) (*Attributes, error) {
	a := &Attributes{Operation: Update, Resource: r.Resource, Subresource: o.Subresource, Namespace: namespace, Name: obj.GetName(),
		Object: obj, Old: old, DryRun: o.DryRun, Options: o.Options}
	if old == nil {
		a.Operation = Create
	}
	if o.View.Show == nil {
		return a, nil
	}
	var err error
	if a.Payload, err = o.View.Show(obj); err != nil || old == nil {
		return a, err
	}
	a.OldPayload, err = o.View.Show(old)
	return a, err
}

// mutate lets admission change an object.
func (r *Registry) mutate(ctx context.Context, namespace string, obj, old resource.Object, o WriteOptions) error {
	a, err := r.attributes(namespace, obj, old, o)
	if err != nil {
		return err
	}
	if err := r.Admission.Mutate(ctx, a); err != nil {
		return err
	}
	if o.View.Take != nil {
		return o.View.Take(obj, a.Payload)
	}
	return nil
}

// judge lets admission refuse an object as it will be stored.
func (r *Registry) judge(ctx context.Context, namespace string, obj, old resource.Object, o WriteOptions) error {
	a, err := r.attributes(namespace, obj, old, o)
	if err != nil {
		return err
	}
	return r.Admission.Validate(ctx, a)
}

// judgeDeletion lets admission refuse that an object is deleted. Of a collection nobody named it.
func (r *Registry) judgeDeletion(ctx context.Context, namespace string, obj resource.Object, options *metav1.DeleteOptions, dryRun bool, asked Asked) error {
	if asked == Otherwise {
		return nil
	}
	a := &Attributes{Operation: Delete, Resource: r.Resource, Namespace: namespace, Name: obj.GetName(), Old: obj, DryRun: dryRun, Options: options}
	if asked == InCollection {
		a.Name = ""
	}
	if err := r.Admission.Mutate(ctx, a); err != nil {
		return err
	}
	return r.Admission.Validate(ctx, a)
}
