package handlers

import (
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

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
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
		s.answerList(w, r, out, l)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, r, http.StatusOK, out, body)
}

// answerList answers with whole objects.
func (s *Scope) answerList(w http.ResponseWriter, r *http.Request, out negotiation.Output, l *registry.List) {
	body, err := s.encodeList(out.Media, l)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeList(w, r, out, body)
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
func (s *Scope) encodeList(m negotiation.Media, l *registry.List) (*listBody, error) {
	if m == negotiation.Protobuf {
		return s.protobufList(l)
	}
	meta, err := wire.JSONBody(listMeta(l))
	if err != nil {
		return nil, err
	}
	items := make([][]byte, len(l.Entries))
	for i, e := range l.Entries {
		if items[i], err = s.Registry.JSON(e); err != nil {
			return nil, err
		}
	}
	if s.Resource.Whole {
		return s.wholeList(l, items)
	}
	head := append(wire.Head(s.listGVK()), `"metadata":`...)
	head = append(head, meta...)
	return jsonList(append(head, `,"items":[`...), items, []byte("]}\n")), nil
}

// wholeList is a list of trees: itself a tree, whose members are in the order of their names.
func (s *Scope) wholeList(l *registry.List, items [][]byte) (*listBody, error) {
	apiVersion, kind := s.listGVK().ToAPIVersionAndKind()
	meta := map[string]any{"resourceVersion": strconv.FormatInt(l.Revision, 10), "continue": l.Continue}
	if l.Remaining != nil {
		meta["remainingItemCount"] = *l.Remaining
	}
	end, err := json.Marshal(struct {
		Kind     string         `json:"kind"`
		Metadata map[string]any `json:"metadata"`
	}{kind, meta})
	if err != nil {
		return nil, err
	}
	tail := append([]byte("],"), end[1:]...)
	return jsonList(fmt.Appendf(nil, `{"apiVersion":%q,"items":[`, apiVersion), items, append(tail, '\n')), nil
}

func (s *Scope) protobufList(l *registry.List) (*listBody, error) {
	meta := listMeta(l)
	m, err := meta.Marshal()
	if err != nil {
		return nil, err
	}
	listMeta := wire.AppendListMeta(nil, m)
	items := make([]protobufItem, len(l.Entries))
	size := len(listMeta)
	for i, e := range l.Entries {
		if items[i], err = s.protobufItem(e); err != nil {
			return nil, err
		}
		size += wire.ItemSize(items[i].size)
	}
	head := append(wire.EnvelopeHead(nil, s.listGVK(), size), listMeta...)
	tail := wire.EnvelopeTail(nil)
	return &listBody{head: head, tail: tail, items: len(items), size: len(head) + size - len(listMeta) + len(tail),
		item: func(dst []byte, i int) ([]byte, error) { return items[i].appendTo(dst) }}, nil
}

// protobufItem is an object's message, without an envelope.
type protobufItem struct {
	message []byte
	// revision is put into the message; 0: it is there already.
	revision int64
	size     int // in bytes, with the revision
}

func (p protobufItem) appendTo(dst []byte) ([]byte, error) {
	dst = wire.AppendItemHead(dst, p.size)
	if p.revision == 0 {
		return append(dst, p.message...), nil
	}
	return wire.AppendWithRevision(dst, p.message, p.revision)
}

func (s *Scope) protobufItem(e *cache.Entry) (protobufItem, error) {
	if wire.IsProtobuf(e.Raw) && s.Resource.FromStorage == nil && !s.Resource.Incomplete {
		raw, err := wire.ProtobufBody(e.Raw)
		if err != nil {
			return protobufItem{}, err
		}
		size, err := wire.SizeWithRevision(raw, e.Revision)
		return protobufItem{message: raw, revision: e.Revision, size: size}, err
	}
	obj, err := s.Registry.Object(&registry.Result{Entry: e})
	if err != nil {
		return protobufItem{}, err
	}
	p, ok := obj.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return protobufItem{}, fmt.Errorf("%s has no protobuf form", s.Resource.Kind)
	}
	b, err := p.Marshal()
	return protobufItem{message: b, size: len(b)}, err
}
