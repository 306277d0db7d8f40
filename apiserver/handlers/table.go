package handlers

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// docs of the columns that every kind has, as the API documents them.
var metaDocs = metav1.ObjectMeta{}.SwaggerDoc()

// defaultTable is how kinds without columns of their own look.
var defaultTable = &resource.Table{
	Columns: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: metaDocs["name"]},
		{Name: "Created At", Type: "date", Description: metaDocs["creationTimestamp"]},
	},
	Row: func(o resource.Object) ([]any, []metav1.TableRowCondition) {
		return []any{o.GetName(), o.GetCreationTimestamp().UTC().Format(time.RFC3339)}, nil
	},
}

func (s *Scope) table() *resource.Table {
	if s.Resource.Table != nil {
		return s.Resource.Table
	}
	return defaultTable
}

// tableOptions reads and checks what a table is to hold.
func tableOptions(r *http.Request) (*metav1.TableOptions, error) {
	o := &metav1.TableOptions{}
	if err := parameters(r, o); err != nil {
		return nil, err
	}
	if errs := validation.ValidateTableOptions(o); len(errs) > 0 {
		return nil, apierrors.NewBadRequest("Unable to convert to Table as requested: " + errs[0].Error())
	}
	return o, nil
}

// row makes one row. The embedded object is the whole, its metadata, or none.
func (s *Scope) row(o *metav1.TableOptions, out negotiation.Output, obj resource.Object, e *cache.Entry) (metav1.TableRow, error) {
	cells, conditions := s.table().Row(obj)
	row := metav1.TableRow{Cells: cells, Conditions: conditions}
	var err error
	switch o.IncludeObject {
	case metav1.IncludeNone:
		return row, nil
	case metav1.IncludeObject:
		row.Object.Raw, err = s.encodeObject(negotiation.JSON, &registry.Result{Object: obj, Entry: e})
	default:
		row.Object.Raw, err = partial(out, obj)
	}
	return row, err
}

// partial is an object's metadata as an object.
func partial(out negotiation.Output, obj resource.Object) ([]byte, error) {
	p := metadataOf(obj)
	body, err := wire.JSONBody(p)
	if err != nil {
		return nil, err
	}
	return wire.AppendObject(nil, wire.Head(out.As.GroupVersion().WithKind("PartialObjectMetadata")), body), nil
}

// tableOf makes the table of one object.
func (s *Scope) tableOf(r *http.Request, out negotiation.Output, obj resource.Object) ([]byte, error) {
	o, err := tableOptions(r)
	if err != nil {
		return nil, err
	}
	row, err := s.row(o, out, obj, nil)
	if err != nil {
		return nil, err
	}
	t := &metav1.Table{ListMeta: metav1.ListMeta{ResourceVersion: obj.GetResourceVersion()}, Rows: []metav1.TableRow{row}}
	return s.encodeTable(o, out, t)
}

// tableOfList makes the table of a list.
func (s *Scope) tableOfList(r *http.Request, out negotiation.Output, l *registry.List) ([]byte, error) {
	o, err := tableOptions(r)
	if err != nil {
		return nil, err
	}
	t := &metav1.Table{ListMeta: listMeta(l), Rows: make([]metav1.TableRow, len(l.Entries))}
	for i, e := range l.Entries {
		obj, err := s.Registry.Object(&registry.Result{Entry: e})
		if err != nil {
			return nil, err
		}
		if t.Rows[i], err = s.row(o, out, obj, e); err != nil {
			return nil, err
		}
	}
	return s.encodeTable(o, out, t)
}

func (s *Scope) encodeTable(o *metav1.TableOptions, out negotiation.Output, t *metav1.Table) ([]byte, error) {
	t.ColumnDefinitions = []metav1.TableColumnDefinition{}
	if !o.NoHeaders {
		t.ColumnDefinitions = s.table().Columns
	}
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return append(wire.AppendObject(nil, wire.Head(out.As), body), '\n'), nil
}

// metadataOf takes an object's metadata out of it.
func metadataOf(obj resource.Object) *metav1.PartialObjectMetadata {
	accessor, ok := obj.(metav1.ObjectMetaAccessor)
	if ok {
		if m, ok := accessor.GetObjectMeta().(*metav1.ObjectMeta); ok {
			return &metav1.PartialObjectMetadata{ObjectMeta: *m}
		}
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: obj.GetName(), GenerateName: obj.GetGenerateName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), Generation: obj.GetGeneration(), CreationTimestamp: obj.GetCreationTimestamp(),
		DeletionTimestamp: obj.GetDeletionTimestamp(), DeletionGracePeriodSeconds: obj.GetDeletionGracePeriodSeconds(),
		Labels: obj.GetLabels(), Annotations: obj.GetAnnotations(), OwnerReferences: obj.GetOwnerReferences(),
		Finalizers: obj.GetFinalizers(), ManagedFields: obj.GetManagedFields(),
	}}
}

// partialBody is the metadata's JSON; it is kept in the entry.
func (s *Scope) partialBody(e *cache.Entry) ([]byte, error) {
	return e.JSON(cache.SlotMetadata, func(obj runtime.Object) ([]byte, error) {
		return wire.JSONBody(metadataOf(obj.(resource.Object)))
	})
}

// partialOf makes the metadata of one object.
func (s *Scope) partialOf(out negotiation.Output, res *registry.Result) ([]byte, error) {
	gvk := out.As.GroupVersion().WithKind("PartialObjectMetadata")
	if res.Entry != nil && out.Media != negotiation.Protobuf {
		body, err := s.partialBody(res.Entry)
		if err != nil {
			return nil, err
		}
		return append(wire.AppendObject(nil, wire.Head(gvk), body), '\n'), nil
	}
	obj, err := s.Registry.Object(res)
	if err != nil {
		return nil, err
	}
	return encodeAs(out.Media, gvk, metadataOf(obj))
}

// partialOfList makes the list of metadata.
func (s *Scope) partialOfList(out negotiation.Output, l *registry.List) ([]byte, error) {
	gvk := out.As.GroupVersion().WithKind("PartialObjectMetadataList")
	if out.Media == negotiation.Protobuf {
		list := &metav1.PartialObjectMetadataList{ListMeta: listMeta(l)}
		for _, e := range l.Entries {
			obj, err := s.Registry.Object(&registry.Result{Entry: e})
			if err != nil {
				return nil, err
			}
			list.Items = append(list.Items, *metadataOf(obj))
		}
		return encodeAs(out.Media, gvk, list)
	}
	meta, err := wire.JSONBody(listMeta(l))
	if err != nil {
		return nil, err
	}
	// Each item of such a list carries its kind.
	head := wire.Head(out.As.GroupVersion().WithKind("PartialObjectMetadata"))
	b := wire.Head(gvk)
	b = append(b, `"metadata":`...)
	b = append(b, meta...)
	b = append(b, `,"items":[`...)
	for i, e := range l.Entries {
		body, err := s.partialBody(e)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendObject(b, head, body)
	}
	return append(b, "]}\n"...), nil
}

// revisionText is a revision as resourceVersions are written.
func revisionText(r int64) string { return strconv.FormatInt(r, 10) }
