package handlers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metainternalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
)

// list answers with the objects that the selectors select.
func (s *Scope) list(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	o, err := s.listOptions(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	l, err := s.Registry.List(ctx, s.Info.Namespace, o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if out.Shape == negotiation.PartialMetadata && out.As.Kind == "PartialObjectMetadata" {
		s.fail(w, r, negotiation.NotShaped(fmt.Sprintf("you requested PartialObjectMetadata, but the requested object is a list (*%s.%sList)", s.internal(), s.Resource.Kind)))
		return
	}
	var body []byte
	switch out.Shape {
	case negotiation.Table:
		body, err = s.tableOfList(r, out, l)
	case negotiation.PartialMetadata:
		body, err = s.partialOfList(out, l)
	default:
		body, err = s.encodeList(out.Media, l)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, r, http.StatusOK, out, body)
}

// listOptions reads and checks the options of a list or watch.
func (s *Scope) listOptions(r *http.Request) (*internalversion.ListOptions, error) {
	o := &internalversion.ListOptions{}
	if err := metainternalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	internalversion.SetListOptionsDefaults(o, true)
	if errs := metainternalvalidation.ValidateListOptions(o, true); len(errs) > 0 {
		return nil, apierrors.NewInvalid(metaKind("ListOptions"), "", errs)
	}
	if o.FieldSelector != nil {
		selector, err := o.FieldSelector.Transform(s.fieldLabel)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		o.FieldSelector = selector
	}
	return o, s.selectName(o)
}

// selectName makes a name in the path a selector.
func (s *Scope) selectName(o *internalversion.ListOptions) error {
	if len(s.Info.Parts) == 0 {
		return nil
	}
	name := s.Info.Parts[0]
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name)
		return nil
	}
	if selected, ok := o.FieldSelector.RequiresExactMatch("metadata.name"); !ok || selected != name {
		return apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return nil
}

// fieldLabel accepts the fields that the kind can be selected by, under the names that are stored.
func (s *Scope) fieldLabel(label, value string) (string, string, error) {
	if label == "metadata.name" || (label == "metadata.namespace" && s.Resource.Namespaced) || slices.Contains(s.Resource.FieldNames, label) {
		return label, value, nil
	}
	if stored, ok := s.Resource.FieldAliases[label]; ok {
		return stored, value, nil
	}
	if len(s.Resource.FieldNames) == 0 && s.Resource.FieldError == "" {
		return "", "", fmt.Errorf("%q is not a known field selector: only %q, %q", label, "metadata.name", "metadata.namespace")
	}
	return "", "", fmt.Errorf(cmp.Or(s.Resource.FieldError, "field label not supported: %s"), label)
}

// listGVK is the kind of a list of what the endpoint gives.
func (s *Scope) listGVK() schema.GroupVersionKind {
	gvk := s.Resource.GVK()
	gvk.Kind = cmp.Or(s.Resource.ListKind, gvk.Kind+"List")
	return gvk
}

func listMeta(l *registry.List) metav1.ListMeta {
	return metav1.ListMeta{ResourceVersion: strconv.FormatInt(l.Revision, 10), Continue: l.Continue, RemainingItemCount: l.Remaining}
}

// encodeList puts the cache's bytes together.
func (s *Scope) encodeList(m negotiation.Media, l *registry.List) ([]byte, error) {
	if m == negotiation.Protobuf {
		return s.protobufList(l)
	}
	meta, err := wire.JSONBody(listMeta(l))
	if err != nil {
		return nil, err
	}
	items := make([][]byte, len(l.Entries))
	size := 0
	for i, e := range l.Entries {
		if items[i], err = s.Registry.JSON(e); err != nil {
			return nil, err
		}
		size += len(items[i]) + 1
	}
	var b bytes.Buffer
	b.Grow(size + 256)
	if s.Resource.Whole {
		return s.wholeList(&b, l, items)
	}
	b.Write(wire.Head(s.listGVK()))
	b.WriteString(`"metadata":`)
	b.Write(meta)
	b.WriteString(`,"items":[`)
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}

// wholeList is a list of trees: itself a tree, whose members are in the order of their names.
func (s *Scope) wholeList(b *bytes.Buffer, l *registry.List, items [][]byte) ([]byte, error) {
	apiVersion, kind := s.listGVK().ToAPIVersionAndKind()
	meta := map[string]any{"resourceVersion": strconv.FormatInt(l.Revision, 10), "continue": l.Continue}
	if l.Remaining != nil {
		meta["remainingItemCount"] = *l.Remaining
	}
	tail, err := json.Marshal(struct {
		Kind     string         `json:"kind"`
		Metadata map[string]any `json:"metadata"`
	}{kind, meta})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(b, `{"apiVersion":%q,"items":[`, apiVersion)
	b.Write(bytes.Join(items, []byte{','}))
	b.WriteString("],")
	b.Write(tail[1:])
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func (s *Scope) protobufList(l *registry.List) ([]byte, error) {
	meta := listMeta(l)
	m, err := meta.Marshal()
	if err != nil {
		return nil, err
	}
	size := 256
	for _, e := range l.Entries {
		size += len(e.Raw) + 24
	}
	body := wire.AppendListMeta(make([]byte, 0, size), m)
	var item []byte
	for _, e := range l.Entries {
		if item, err = s.protobufItem(item[:0], &registry.Result{Entry: e}); err != nil {
			return nil, err
		}
		body = wire.AppendItem(body, item)
	}
	return wire.Envelope(nil, s.listGVK(), body)
}

// protobufItem appends an object's message, without an envelope.
func (s *Scope) protobufItem(dst []byte, res *registry.Result) ([]byte, error) {
	if wire.IsProtobuf(res.Entry.Raw) && s.Resource.FromStorage == nil && !s.Resource.Incomplete {
		raw, err := wire.ProtobufBody(res.Entry.Raw)
		if err != nil {
			return nil, err
		}
		return wire.AppendWithRevision(dst, raw, res.Entry.Revision)
	}
	obj, err := s.Registry.Object(res)
	if err != nil {
		return nil, err
	}
	p, ok := obj.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil, fmt.Errorf("%s has no protobuf form", s.Resource.Kind)
	}
	b, err := p.Marshal()
	return append(dst, b...), err
}
