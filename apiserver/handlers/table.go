package handlers

import (
	"bytes"
	"encoding/json"
	"maps"
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
		row.Object.Raw, err = s.partial(out, obj, e)
	}
	return row, err
}

// partial is an object's metadata as an object; what an entry keeps of it is taken from there.
func (s *Scope) partial(out negotiation.Output, obj resource.Object, e *cache.Entry) (body []byte, err error) {
	if e != nil {
		body, err = s.partialBody(e)
	} else {
		body, err = wire.JSONBody(s.metadataOf(obj))
	}
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
	return s.appendTable(o, out, listMeta(l), len(l.Entries), func(i int) (resource.Object, *cache.Entry, error) {
		obj, err := s.Registry.Object(&registry.Result{Entry: l.Entries[i]})
		return obj, l.Entries[i], err
	})
}

// rowSize is about how long a row is, in bytes, so that a table's buffer seldom grows.
const rowSize = 1 << 10

// appendTable writes a table row by row: what the rows embed is encoded already, and is neither copied nor looked at again.
func (s *Scope) appendTable(o *metav1.TableOptions, out negotiation.Output, meta metav1.ListMeta, n int, object func(i int) (resource.Object, *cache.Entry, error)) ([]byte, error) {
	head, err := json.Marshal(meta)
	if err != nil {
		return nil, err
	}
	columns, err := json.Marshal(s.columns(o))
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, len(columns)+n*rowSize), wire.Head(out.As)...)
	b = append(append(b, `"metadata":`...), head...)
	b = append(append(b, `,"columnDefinitions":`...), columns...)
	b = append(b, `,"rows":[`...)
	for i := range n {
		obj, e, err := object(i)
		if err != nil {
			return nil, err
		}
		row, err := s.row(o, out, obj, e)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendRow(b, &row); err != nil {
			return nil, err
		}
	}
	return append(b, "]}\n"...), nil
}

// appendRow writes a row as encoding/json would.
func appendRow(b []byte, row *metav1.TableRow) ([]byte, error) {
	cells, err := json.Marshal(row.Cells)
	if err != nil {
		return nil, err
	}
	b = append(append(b, `{"cells":`...), cells...)
	if len(row.Conditions) > 0 {
		conditions, err := json.Marshal(row.Conditions)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"conditions":`...), conditions...)
	}
	b = append(b, `,"object":`...)
	if row.Object.Raw == nil {
		return append(b, "null}"...), nil
	}
	return append(append(b, bytes.TrimRight(row.Object.Raw, "\n")...), '}'), nil
}

// columns are the definitions that a table begins with.
func (s *Scope) columns(o *metav1.TableOptions) []metav1.TableColumnDefinition {
	if o.NoHeaders {
		return []metav1.TableColumnDefinition{}
	}
	return s.table().Columns
}

func (s *Scope) encodeTable(o *metav1.TableOptions, out negotiation.Output, t *metav1.Table) ([]byte, error) {
	t.ColumnDefinitions = s.columns(o)
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return append(wire.AppendObject(nil, wire.Head(out.As), body), '\n'), nil
}

// metadataOf takes an object's metadata out of it, but the annotations that are only another form of a field.
func (s *Scope) metadataOf(obj resource.Object) *metav1.PartialObjectMetadata {
	p := &metav1.PartialObjectMetadata{ObjectMeta: metadata(obj)}
	for _, key := range s.Resource.FieldAnnotations {
		if _, there := p.Annotations[key]; there {
			p.Annotations = maps.Clone(p.Annotations)
			delete(p.Annotations, key)
		}
	}
	return p
}

func metadata(obj resource.Object) metav1.ObjectMeta {
	if accessor, ok := obj.(metav1.ObjectMetaAccessor); ok {
		if m, ok := accessor.GetObjectMeta().(*metav1.ObjectMeta); ok {
			return *m
		}
	}
	return metav1.ObjectMeta{
		Name: obj.GetName(), GenerateName: obj.GetGenerateName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), Generation: obj.GetGeneration(), CreationTimestamp: obj.GetCreationTimestamp(),
		DeletionTimestamp: obj.GetDeletionTimestamp(), DeletionGracePeriodSeconds: obj.GetDeletionGracePeriodSeconds(),
		Labels: obj.GetLabels(), Annotations: obj.GetAnnotations(), OwnerReferences: obj.GetOwnerReferences(),
		Finalizers: obj.GetFinalizers(), ManagedFields: obj.GetManagedFields(),
	}
}

// partialBody is the metadata's JSON; it is kept in the entry.
func (s *Scope) partialBody(e *cache.Entry) ([]byte, error) {
	return e.JSON(cache.SlotMetadata, func(obj runtime.Object) ([]byte, error) {
		return wire.JSONBody(s.metadataOf(obj.(resource.Object)))
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
	return encodeAs(out.Media, gvk, s.metadataOf(obj))
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
			list.Items = append(list.Items, *s.metadataOf(obj))
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
