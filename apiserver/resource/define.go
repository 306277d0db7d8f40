package resource

import (
	"context"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Strategy is Hooks for one Go type.
type Strategy[T Object] struct {
	PrepareForCreate func(ctx context.Context, obj T)
	PrepareForUpdate func(ctx context.Context, obj, old T)
	Validate         func(ctx context.Context, obj T) field.ErrorList
	ValidateUpdate   func(ctx context.Context, obj, old T) field.ErrorList
	WarningsOnCreate func(ctx context.Context, obj T) []string
	WarningsOnUpdate func(ctx context.Context, obj, old T) []string
	ResetFields      []string
}

// Kind is the literal that stands in a kind's file.
type Kind[T Object] struct {
	Name Name
	List runtime.Object // an empty list
	// Store is the path below /registry/, without slashes at its ends.
	Store string

	Verbs    []string // nil: all
	Default  func(obj T)
	Strategy Strategy[T]
	// Status are the hooks of the status endpoint; nil: there is none.
	Status *Strategy[T]
	// Scale of the scale endpoint; nil: there is none.
	Scale *Scale
	// Subresources besides status and scale.
	Subresources []Subresource

	Columns []metav1.TableColumnDefinition
	Row     func(obj T) []any
	// RowConditions marks rows, such as "Completed" pods. Seldom needed.
	RowConditions func(obj T) []metav1.TableRowCondition

	// Fields are selectable fields beyond metadata's: each path and how it is read.
	Fields map[string]func(obj T) string
	// FieldError is how a label that is none of these is refused, as a format; empty: as most kinds do.
	FieldError string
	// FieldAliases are further names for stored fields.
	FieldAliases map[string]string

	ValidateName func(name string, prefix bool) []string
	OwnMetadata  bool
	ErrorKind    schema.GroupKind
	Deprecated   string
	// FieldAnnotations stand for fields that this version has not.
	FieldAnnotations []string
	CreateOnUpdate   bool
	NeedsVersion     bool
	Governs          bool
	ReturnDeleted    bool
	Propagation      Propagation
	OrphanWarning    string
	Incomplete       bool
	Undeletable      func(name string) string
	Grace            func(obj T, options *metav1.DeleteOptions) bool
	Held             func(obj T) bool
	OnDelete         func(obj T)
	TTL              func(obj T) int64

	// Form of the stored values; nil: protobuf.
	Form *Form
	// Structure as in Resource.
	Structure string
	// BeginDelete as in Resource.
	BeginDelete func(obj T, now metav1.Time)

	// StoredAs, ToStorage and FromStorage are given when another version is stored.
	StoredAs               schema.GroupVersionKind
	ToStorage, FromStorage func(Object) (Object, error)
}

// AllVerbs are discovery's verbs of an ordinary resource.
var AllVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// StatusVerbs are discovery's verbs of an endpoint that reads and updates.
var StatusVerbs = []string{"get", "patch", "update"}

// ProxyVerbs are discovery's verbs of an endpoint that passes requests on.
var ProxyVerbs = []string{"create", "delete", "get", "patch", "update"}

// ScaleGVK is what every scale endpoint speaks.
var ScaleGVK = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// Define makes the resource of a kind's literal.
func Define[T Object](k Kind[T]) *Resource {
	objectType := reflect.TypeFor[T]().Elem()
	listType := reflect.TypeOf(k.List).Elem()
	r := &Resource{
		Name: k.Name, Prefix: "/registry/" + k.Store + "/", Storage: k.StoredAs, Form: k.Form, Structure: k.Structure,
		New:         func() Object { return reflect.New(objectType).Interface().(Object) },
		NewList:     func() runtime.Object { return reflect.New(listType).Interface().(runtime.Object) },
		Verbs:       k.Verbs,
		Hooks:       erase(k.Strategy),
		ToStorage:   k.ToStorage,
		FromStorage: k.FromStorage, FieldAliases: k.FieldAliases, FieldError: k.FieldError,

		ValidateName: k.ValidateName, CreateOnUpdate: k.CreateOnUpdate, NeedsVersion: k.NeedsVersion,
		OwnMetadata: k.OwnMetadata, ErrorKind: k.ErrorKind, Deprecated: k.Deprecated,
		Governs: k.Governs, FieldAnnotations: k.FieldAnnotations, ReturnDeleted: k.ReturnDeleted, Propagation: k.Propagation, OrphanWarning: k.OrphanWarning,
		Incomplete: k.Incomplete, Undeletable: k.Undeletable,
	}
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	if r.Verbs == nil {
		r.Verbs = AllVerbs
	}
	if r.Storage.Empty() {
		r.Storage = r.GVK()
	}
	if k.Default != nil {
		r.Default = func(o Object) { k.Default(o.(T)) }
	}
	if k.Grace != nil {
		r.Grace = func(o Object, d *metav1.DeleteOptions) bool { return k.Grace(o.(T), d) }
	}
	if k.BeginDelete != nil {
		r.BeginDelete = func(o Object, now metav1.Time) { k.BeginDelete(o.(T), now) }
	}
	if k.Held != nil {
		r.Held = func(o Object) bool { return k.Held(o.(T)) }
	}
	if k.OnDelete != nil {
		r.OnDelete = func(o Object) { k.OnDelete(o.(T)) }
	}
	if k.TTL != nil {
		r.TTL = func(o Object) int64 { return k.TTL(o.(T)) }
	}
	defineSubresources(r, k)
	defineTable(r, k)
	defineFields(r, k)
	return r
}

func defineSubresources[T Object](r *Resource, k Kind[T]) {
	if k.Scale != nil {
		r.Subresources = append(r.Subresources, Subresource{Name: "scale", Verbs: StatusVerbs, GVK: ScaleGVK, Scale: k.Scale})
	}
	if k.Status != nil {
		h := erase(*k.Status)
		r.Subresources = append(r.Subresources, Subresource{Name: "status", Verbs: StatusVerbs, Hooks: &h})
	}
	r.Subresources = append(r.Subresources, k.Subresources...)
}

func defineTable[T Object](r *Resource, k Kind[T]) {
	if k.Columns == nil {
		return
	}
	r.Table = &Table{Columns: k.Columns, Row: func(o Object) ([]any, []metav1.TableRowCondition) {
		if k.RowConditions == nil {
			return k.Row(o.(T)), nil
		}
		return k.Row(o.(T)), k.RowConditions(o.(T))
	}}
}

func defineFields[T Object](r *Resource, k Kind[T]) {
	if k.Fields == nil {
		return
	}
	for name := range k.Fields {
		r.FieldNames = append(r.FieldNames, name)
	}
	r.Fields = func(o Object) fields.Set {
		set := make(fields.Set, len(k.Fields)+2)
		for name, get := range k.Fields {
			set[name] = get(o.(T))
		}
		return set
	}
}

// Erase makes hooks for any object of hooks for one type.
func Erase[T Object](s Strategy[T]) Hooks { return erase(s) }

func erase[T Object](s Strategy[T]) Hooks {
	h := Hooks{ResetFields: s.ResetFields}
	if s.PrepareForCreate != nil {
		h.PrepareForCreate = func(ctx context.Context, o Object) { s.PrepareForCreate(ctx, o.(T)) }
	}
	if s.PrepareForUpdate != nil {
		h.PrepareForUpdate = func(ctx context.Context, o, old Object) { s.PrepareForUpdate(ctx, o.(T), old.(T)) }
	}
	if s.Validate != nil {
		h.Validate = func(ctx context.Context, o Object) field.ErrorList { return s.Validate(ctx, o.(T)) }
	}
	if s.ValidateUpdate != nil {
		h.ValidateUpdate = func(ctx context.Context, o, old Object) field.ErrorList { return s.ValidateUpdate(ctx, o.(T), old.(T)) }
	}
	h.Warnings = func(ctx context.Context, o, old Object) []string {
		switch {
		case old == nil && s.WarningsOnCreate != nil:
			return s.WarningsOnCreate(ctx, o.(T))
		case old != nil && s.WarningsOnUpdate != nil:
			return s.WarningsOnUpdate(ctx, o.(T), old.(T))
		}
		return nil
	}
	return h
}

// DefineQuestion makes a resource of which nothing is stored: what is posted is answered.
func DefineQuestion[T Object](n Name) *Resource {
	t := reflect.TypeFor[T]().Elem()
	if n.Singular == "" {
		n.Singular = strings.ToLower(n.Kind)
	}
	return &Resource{Name: n, Question: true, Verbs: []string{"create"}, New: func() Object { return reflect.New(t).Interface().(Object) }}
}

// DefineObserved makes a resource of which nothing is stored: its objects are found out when they are asked for, and can only be read.
func DefineObserved[T Object](n Name, list runtime.Object, columns []metav1.TableColumnDefinition, row func(obj T) []any) *Resource {
	r := DefineQuestion[T](n)
	l := reflect.TypeOf(list).Elem()
	r.Question, r.Observed, r.Verbs = false, true, []string{"get", "list"}
	r.NewList = func() runtime.Object { return reflect.New(l).Interface().(runtime.Object) }
	r.Table = &Table{Columns: columns, Row: func(o Object) ([]any, []metav1.TableRowCondition) { return row(o.(T)), nil }}
	return r
}
