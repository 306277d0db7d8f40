package handlers

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Observer finds out all objects of a resource of which nothing is stored.
type Observer func(ctx context.Context) []resource.Object

// observed gives the handler of a method of a resource of which nothing is stored: it can be got and listed.
func (s *Scope) observed(method string, named bool) http.HandlerFunc {
	watch := s.Info.Verb == "watch"
	switch {
	case method != http.MethodGet || watch && named:
		return nil
	case watch:
		return s.unwatched
	case named:
		return s.getObserved
	}
	return s.listObserved
}

// unwatched says that the resource can't be watched.
func (s *Scope) unwatched(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
		Details: &metav1.StatusDetails{Kind: s.Resource.Plural}, Message: fmt.Sprintf("watch is not supported on resources of kind %q", s.Resource.Plural)}})
}

func (s *Scope) getObserved(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	for _, o := range s.observe(ctx) {
		if o.GetName() == s.Info.Name {
			s.object(w, r, http.StatusOK, out, &registry.Result{Object: o})
			return
		}
	}
	s.fail(w, r, apierrors.NewNotFound(schema.GroupResource{Group: s.Resource.Group, Resource: s.Resource.Singular}, s.Info.Name))
}

func (s *Scope) listObserved(w http.ResponseWriter, r *http.Request) {
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
	items := selected(s.observe(ctx), o.LabelSelector, o.FieldSelector)
	var body []byte
	switch out.Shape {
	case negotiation.Table:
		body, err = s.tableOfObjects(r, out, items)
	case negotiation.PartialMetadata:
		body, err = s.metadataOfObjects(out, items)
	default:
		body, err = s.listOfObjects(out, items)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, r, http.StatusOK, out, body)
}

// selected are the objects that both selectors select. Nil selects all.
func selected(all []resource.Object, by labels.Selector, fieldsBy fields.Selector) []resource.Object {
	out := make([]resource.Object, 0, len(all))
	for _, o := range all {
		if by != nil && !by.Matches(labels.Set(o.GetLabels())) {
			continue
		}
		if fieldsBy != nil && !fieldsBy.Matches(fields.Set{"metadata.name": o.GetName()}) {
			continue
		}
		out = append(out, o)
	}
	return out
}

func (s *Scope) listOfObjects(out negotiation.Output, items []resource.Object) ([]byte, error) {
	list := s.Resource.NewList()
	objects := make([]runtime.Object, len(items))
	for i, o := range items {
		objects[i] = o
	}
	if err := meta.SetList(list, objects); err != nil {
		return nil, err
	}
	return encodeAs(out.Media, s.listGVK(), list)
}

func (s *Scope) tableOfObjects(r *http.Request, out negotiation.Output, items []resource.Object) ([]byte, error) {
	o, err := tableOptions(r)
	if err != nil {
		return nil, err
	}
	return s.appendTable(o, out, metav1.ListMeta{}, len(items), func(i int) (resource.Object, *cache.Entry, error) { return items[i], nil, nil })
}

func (s *Scope) metadataOfObjects(out negotiation.Output, items []resource.Object) ([]byte, error) {
	gv := out.As.GroupVersion()
	list := &metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{}}
	for _, o := range items {
		m := s.metadataOf(o)
		m.SetGroupVersionKind(gv.WithKind("PartialObjectMetadata"))
		list.Items = append(list.Items, *m)
	}
	return encodeAs(out.Media, gv.WithKind("PartialObjectMetadataList"), list)
}
