package handlers

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// finalize replaces a Namespace's spec.finalizers; with the last of them a deleted Namespace goes.
func finalize(w http.ResponseWriter, r *http.Request, s *Scope) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	if r.Method != http.MethodPut {
		NotAllowed(w, r)
		return
	}
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
	wanted := obj.(*corev1.Namespace)
	write := registry.WriteOptions{DryRun: len(o.DryRun) > 0, Manager: manager(o.FieldManager, r), Subresource: s.subresource(), Options: o}
	res, err := s.Registry.Update(ctx, "", s.Info.Name, func(ctx context.Context, current resource.Object, _ bool) (resource.Object, error) {
		ns := current.DeepCopyObject().(*corev1.Namespace)
		ns.Spec.Finalizers = wanted.Spec.Finalizers
		if wanted.ResourceVersion != "" {
			ns.ResourceVersion = wanted.ResourceVersion
		}
		return s.Registry.Patched(ctx, s.Info.Namespace, current, true, ns, write, true)
	}, registry.UpdateOptions{WriteOptions: write, Hooks: &resource.Hooks{}, UID: wanted.UID})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.object(w, r, http.StatusOK, out, res)
}
