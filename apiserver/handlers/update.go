package handlers

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// update replaces an object.
func (s *Scope) update(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	obj, o, err := s.updateInput(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write := registry.WriteOptions{DryRun: len(o.DryRun) > 0, Manager: manager(o.FieldManager, r), Subresource: s.subresource(), Options: o}
	transform := func(ctx context.Context, current resource.Object, exists bool) (resource.Object, error) {
		return s.Registry.Replace(ctx, s.Info.Namespace, current, exists, obj.DeepCopyObject().(resource.Object), write)
	}
	res, err := s.Registry.Update(ctx, s.Info.Namespace, s.Info.Name, transform, registry.UpdateOptions{WriteOptions: write, UID: obj.GetUID()})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.object(w, r, okOrCreated(res), out, res)
}

func okOrCreated(res *registry.Result) int {
	if res.Created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// updateInput reads an update's object and options.
func (s *Scope) updateInput(r *http.Request) (resource.Object, *metav1.UpdateOptions, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, nil, err
	}
	o := &metav1.UpdateOptions{}
	if err := parameters(r, o); err != nil {
		return nil, nil, err
	}
	if errs := validation.ValidateUpdateOptions(o); len(errs) > 0 {
		return nil, nil, apierrors.NewInvalid(metaKind("UpdateOptions"), "", errs)
	}
	m, err := negotiation.Body(r)
	if err != nil {
		return nil, nil, err
	}
	decoded, err := s.decode(r.Context(), body, m, directive(o.FieldValidation), s.Resource.New())
	if err != nil {
		return nil, nil, err
	}
	obj := decoded.(resource.Object)
	s.setDefaults(obj)
	if err := matchNamespace(s, obj); err != nil {
		return nil, nil, err
	}
	return obj, o, matchName(s, obj)
}
