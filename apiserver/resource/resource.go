package resource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Object is an API object with metadata.
type Object interface {
	runtime.Object
	metav1.Object
}

// Name is what a resource is called.
type Name struct {
	Group, Version string
	Kind           string
	Plural         string
	Singular       string   // empty: the kind in lower case
	Short          []string // kubectl's abbreviations
	Categories     []string // such as "all"
	Namespaced     bool
}

// GVK is the group, version and kind.
func (n Name) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: n.Group, Version: n.Version, Kind: n.Kind}
}

// GVR is the group, version and resource.
func (n Name) GVR() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: n.Group, Version: n.Version, Resource: n.Plural}
}

// GR is the group and resource, as errors name it.
func (n Name) GR() schema.GroupResource {
	return schema.GroupResource{Group: n.Group, Resource: n.Plural}
}

// Propagation is what a deletion without a policy does to dependents.
type Propagation int

// The default propagation policies. Unsupported: dependents are never looked at.
const (
	Background Propagation = iota
	Orphan
	Unsupported
)

// Hooks are the rules of one endpoint: a resource, or one of its subresources. Any may be nil.
type Hooks struct {
	// PrepareForCreate resets what a client may not set.
	PrepareForCreate func(ctx context.Context, obj Object)
	// PrepareForUpdate keeps what this endpoint may not change and counts the generation.
	PrepareForUpdate func(ctx context.Context, obj, old Object)
	// Validate judges a new object; paths are relative to its root. Metadata is judged apart from it, for all kinds alike.
	Validate func(ctx context.Context, obj Object) field.ErrorList
	// ValidateUpdate judges a change.
	ValidateUpdate func(ctx context.Context, obj, old Object) field.ErrorList
	// Warnings tells what is accepted but unwise; old is nil on create.
	Warnings func(ctx context.Context, obj, old Object) []string
	// ResetFields are the paths that this endpoint ignores, so that no manager owns them through it: "spec", "status", "metadata.labels".
	ResetFields []string
}

// Subresource is a further endpoint below each object.
type Subresource struct {
	// Name as in the path: "status", "scale".
	Name string
	// Verbs in discovery's order.
	Verbs []string
	// GVK of what the endpoint takes and gives; empty: the resource's own.
	GVK schema.GroupVersionKind
	// Hooks of an endpoint that updates the object itself, such as status. Nil for endpoints with a handler of their own.
	Hooks *Hooks
	// Scale maps a scale endpoint onto the object.
	Scale *Scale
}

// Scale is how a resource answers on its scale endpoint.
type Scale struct {
	Replicas       func(obj Object) int32
	SetReplicas    func(obj Object, n int32)
	StatusReplicas func(obj Object) int32
	Selector       func(obj Object) (*metav1.LabelSelector, error)
	// SelectorText is the selector as text, in place of Selector; nil: there is none.
	SelectorText func(obj Object) (string, error)
	// SetReplicasErr is SetReplicas for objects that may refuse; nil: they can't.
	SetReplicasErr func(obj Object, n int32) error
	// Unset says that an object has no number of replicas, and UnsetError why it can then be neither read nor, with a number still
	// missing, written; nil: there always is one.
	Unset      func(obj Object) bool
	UnsetError func(write bool) error
	// Table is how a Scale of the resource looks; nil: as Scales do.
	Table *Table
	// ReplicasPath in the object, for managedFields.
	ReplicasPath []string
}

// Table is how kubectl sees a resource.
type Table struct {
	Columns []metav1.TableColumnDefinition
	// Row gives a cell a column, and the conditions of the row if any.
	Row func(obj Object) ([]any, []metav1.TableRowCondition)
}

// Form is how objects are stored where that is not protobuf.
type Form struct {
	// Marshal makes the stored value; the object has no resourceVersion.
	Marshal func(Object) ([]byte, error)
	// Unmarshal reads a stored value into a new object, which is then defaulted.
	Unmarshal func([]byte) (Object, error)
}

// Untype drops the kind and apiVersion of an object whose Go type tells them; objects without a type carry theirs inside.
func Untype(obj runtime.Object) {
	if _, whole := obj.(runtime.Unstructured); !whole {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
}

// Resource is all that the API server knows of one served resource.
type Resource struct {
	Name
	New     func() Object
	NewList func() runtime.Object

	// Question: nothing is stored; what is posted is answered.
	Question bool
	// Observed: nothing is stored; objects are found out when they are asked for.
	Observed bool
	// Prefix of the keys in etcd, with a slash at its end, and the version that is stored there.
	Prefix  string
	Storage schema.GroupVersionKind
	// ToStorage and FromStorage convert when the stored version is another than the served one; nil otherwise.
	ToStorage, FromStorage func(Object) (Object, error)

	// Form of the stored values; nil: protobuf.
	Form *Form
	// Whole: objects have no Go type; they are trees that carry their kind and apiVersion inside.
	Whole bool
	// Coerce brings a decoded tree into the form of its schema; it gives the paths of fields that are not in it, if they are
	// asked for. Nil where a Go type does that.
	Coerce func(obj Object, unknown bool) ([]string, error)
	// Structure is the structured-merge schema of a kind that brings its own, as YAML; empty: client-go knows it.
	Structure string
	// ListKind is the kind of lists; empty: the kind with "List" after it.
	ListKind string

	// Verbs in discovery's order.
	Verbs []string
	// Default sets what the client left out, also on what is read from the store.
	Default func(obj Object)
	Hooks
	Subresources []Subresource
	Table        *Table
	// Fields are the selectable fields besides metadata.name and metadata.namespace. Nil: only these.
	Fields func(obj Object) fields.Set
	// FieldNames lists the selectable fields beyond metadata's, so that others are refused.
	FieldNames []string
	// FieldError is how a label that is none of these is refused, as a format; empty: as most kinds do.
	FieldError string
	// FieldAliases are further names for stored fields, in versions that call them otherwise.
	FieldAliases map[string]string

	// ValidateName judges metadata.name; prefix is set for generateName.
	ValidateName func(name string, prefix bool) []string
	// OwnMetadata: Validate judges the metadata too, in an order or by a rule of its own.
	OwnMetadata bool
	// ErrorKind names the kind in errors where that is another than its own.
	ErrorKind schema.GroupKind
	// Deprecated is a warning for every request; empty: none.
	Deprecated string
	// FieldAnnotations stand for fields that this version has not; tables and metadata on their own leave them out.
	FieldAnnotations []string
	// CreateOnUpdate: PUT of a missing object creates it.
	CreateOnUpdate bool
	// NeedsVersion: an update must name the version that it replaces.
	NeedsVersion bool
	// Governs: others' writes depend on it, so a write of it is answered only once the cache has it.
	Governs bool
	// ReturnDeleted: DELETE answers with the object rather than with a Status.
	ReturnDeleted bool
	// BeginDelete marks an object whose deletion is asked for the first time, by a rule of the kind's own, instead of
	// removing it; nil: there is none.
	BeginDelete func(obj Object, now metav1.Time)
	// Propagation of a deletion that names none.
	Propagation Propagation
	// Incomplete: what is stored may lack what defaults fill in, so that its bytes are not served as they are.
	Incomplete bool
	// Undeletable says why the object of a name must stay; nil or empty: it need not.
	Undeletable func(name string) string
	// OrphanWarning is told to who deletes without saying what becomes of dependents; empty: nothing is.
	OrphanWarning string
	// Grace tells the grace period in seconds of a deletion with the options; nil or false: none.
	Grace func(obj Object, options *metav1.DeleteOptions) bool
	// Held says that something besides metadata.finalizers keeps a deleted object, such as a Namespace's spec.finalizers; nil: nothing does.
	Held func(obj Object) bool
	// OnDelete marks an object whose deletion began and is not over; nil: nothing more.
	OnDelete func(obj Object)
	// TTL in seconds after which the object goes by itself; nil: never.
	TTL func(obj Object) int64
	// Fingerprint is the same for resources of a prefix that read the same of every stored value; nil: only the resource itself does.
	Fingerprint func() string
}

// SelectableFields gives all selectable fields of the object.
func (r *Resource) SelectableFields(obj Object) fields.Set {
	var set fields.Set
	if r.Fields != nil {
		set = r.Fields(obj)
	} else {
		set = make(fields.Set, 2)
	}
	set["metadata.name"] = obj.GetName()
	if r.Namespaced {
		set["metadata.namespace"] = obj.GetNamespace()
	}
	return set
}

// Stored says whether there are objects in the store.
func (r *Resource) Stored() bool { return !r.Question && !r.Observed }

// InvalidKind is the kind as errors name it.
func (r *Resource) InvalidKind() schema.GroupKind {
	if r.ErrorKind.Kind != "" {
		return r.ErrorKind
	}
	return r.GVK().GroupKind()
}

// InvalidKindOf is the kind as errors name it: of a tree, what it says it is.
func (r *Resource) InvalidKindOf(obj Object) schema.GroupKind {
	if r.Whole {
		return obj.GetObjectKind().GroupVersionKind().GroupKind()
	}
	return r.InvalidKind()
}

// Sub returns the subresource of a name, or nil.
func (r *Resource) Sub(name string) *Subresource {
	for i := range r.Subresources {
		if r.Subresources[i].Name == name {
			return &r.Subresources[i]
		}
	}
	return nil
}

// Key is where an object is stored.
func (r *Resource) Key(namespace, name string) string {
	if r.Namespaced {
		return r.Prefix + namespace + "/" + name
	}
	return r.Prefix + name
}
