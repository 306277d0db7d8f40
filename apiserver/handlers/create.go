package handlers

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// create stores a new object.
func (s *Scope) create(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	obj, o, err := s.createInput(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if err := matchNamespace(s, obj); err != nil {
		s.fail(w, r, err)
		return
	}
	namespace := s.Info.Namespace
	res, err := s.Registry.Create(ctx, namespace, obj, registry.WriteOptions{DryRun: len(o.DryRun) > 0, Manager: manager(o.FieldManager, r), Options: o})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.object(w, r, http.StatusCreated, out, res)
}

// posted reads the object and the options of a POST.
func posted[T resource.Object](s *Scope, r *http.Request, into T) (T, *metav1.CreateOptions, error) {
	m, err := negotiation.Body(r)
	if err != nil {
		return into, nil, err
	}
	body, err := readBody(r)
	if err != nil {
		return into, nil, err
	}
	o := &metav1.CreateOptions{}
	if err := parameters(r, o); err != nil {
		return into, nil, err
	}
	if errs := validation.ValidateCreateOptions(o); len(errs) > 0 {
		return into, nil, apierrors.NewInvalid(metaKind("CreateOptions"), "", errs)
	}
	obj, err := s.decode(r.Context(), body, m, directive(o.FieldValidation), into)
	if err != nil {
		return into, nil, err
	}
	return obj.(T), o, nil
}

// createInput reads a create's object and options.
func (s *Scope) createInput(r *http.Request) (resource.Object, *metav1.CreateOptions, error) {
	obj, o, err := posted(s, r, s.Resource.New())
	if err != nil {
		return nil, nil, err
	}
	obj.SetSelfLink("")
	obj.SetUID("")
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	s.setDefaults(obj)
	return obj, o, nil
}

func (s *Scope) setDefaults(obj resource.Object) {
	if s.Resource.Default != nil {
		s.Resource.Default(obj)
	}
}

// matchNamespace puts the object into the request's namespace; another one in the object is an error.
func matchNamespace(s *Scope, obj metav1.Object) error {
	want := s.Info.Namespace
	if !s.Resource.Namespaced {
		want = ""
	}
	switch have := obj.GetNamespace(); {
	case have == want:
		return nil
	case have == "" || want == "":
		obj.SetNamespace(want)
		return nil
	}
	return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

// matchName makes sure that the object is the one that the path names.
func matchName(s *Scope, obj metav1.Object) error {
	if obj.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", s.Info.Name))
	}
	if obj.GetName() != s.Info.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), s.Info.Name))
	}
	return nil
}
