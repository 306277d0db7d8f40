package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/patch"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// patch changes an object by a patch of any type.
func (s *Scope) patch(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	p, o, out, err := s.patchInput(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write := registry.WriteOptions{DryRun: len(o.DryRun) > 0, Manager: manager(o.FieldManager, r), Subresource: s.subresource(), Options: o}
	apply := p.Type == types.ApplyYAMLPatchType
	transform := func(ctx context.Context, current resource.Object, exists bool) (resource.Object, error) {
		obj, err := s.patched(p, o, current, exists, write)
		if err != nil {
			return nil, err
		}
		return s.Registry.Patched(ctx, s.Info.Namespace, current, exists, obj, write, apply)
	}
	res, err := s.Registry.Update(ctx, s.Info.Namespace, s.Info.Name, transform, registry.UpdateOptions{WriteOptions: write, Create: apply && s.Sub == nil, Pure: true})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.object(w, r, okOrCreated(res), out, res)
}

// patchInput reads a patch and its options.
func (s *Scope) patchInput(r *http.Request) (*patch.Patch, *metav1.PatchOptions, negotiation.Output, error) {
	var out negotiation.Output
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if err := s.takesPatch(kind); err != nil {
		return nil, nil, out, err
	}
	out, err := s.output(r)
	if err != nil {
		return nil, nil, out, err
	}
	body, err := readBody(r)
	if err != nil {
		return nil, nil, out, err
	}
	o := &metav1.PatchOptions{}
	if err := parameters(r, o); err != nil {
		return nil, nil, out, err
	}
	if errs := validation.ValidatePatchOptions(o, types.PatchType(kind)); len(errs) > 0 {
		return nil, nil, out, apierrors.NewInvalid(metaKind("PatchOptions"), "", errs)
	}
	ctx := r.Context()
	p := &patch.Patch{Type: types.PatchType(kind), Body: body, Directive: directive(o.FieldValidation), Warn: func(errs []error) { warnStrict(ctx, errs) }}
	return p, o, out, p.Check()
}

// takesPatch refuses patches of a type that the endpoint does not know.
func (s *Scope) takesPatch(kind string) error {
	custom := s.Resource.Whole
	switch {
	case custom && kind == string(types.StrategicMergePatchType), custom && !slices.Contains(patch.Types, kind):
		return negotiation.Unsupported(patch.UntypedTypes...)
	case !slices.Contains(patch.Types, kind):
		return generic(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "415: Unsupported Media Type")
	}
	return nil
}

// patched makes the wanted object of the current one and the patch.
func (s *Scope) patched(p *patch.Patch, o *metav1.PatchOptions, current resource.Object, exists bool, write registry.WriteOptions) (resource.Object, error) {
	if p.Type == types.ApplyYAMLPatchType {
		return s.applied(p, o, current, exists, write)
	}
	if !exists {
		return nil, apierrors.NewNotFound(s.Resource.GR(), s.Info.Name)
	}
	out, err := p.Apply(current, s.target())
	if err != nil {
		return nil, err
	}
	return s.checkPatched(out.(resource.Object), exists)
}

func (s *Scope) applied(p *patch.Patch, o *metav1.PatchOptions, current resource.Object, exists bool, write registry.WriteOptions) (resource.Object, error) {
	u, err := p.Configuration()
	if err != nil {
		return nil, err
	}
	obj, err := s.Registry.Apply(current.DeepCopyObject().(resource.Object), u, write, ptr.Deref(o.Force, false))
	if err != nil {
		return nil, err
	}
	if err := p.CheckConfiguration(); err != nil {
		return nil, err
	}
	return s.checkPatched(obj, exists)
}

func (s *Scope) checkPatched(obj resource.Object, exists bool) (resource.Object, error) {
	if obj.GetUID() != "" && !exists {
		return nil, apierrors.NewConflict(s.Resource.GR(), s.Info.Name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", obj.GetUID()))
	}
	if err := matchNamespace(s, obj); err != nil {
		return nil, err
	}
	return obj, matchName(s, obj)
}

// target tells the patch package what is patched.
func (s *Scope) target() patch.Target {
	gvk := s.Resource.GVK()
	return patch.Target{
		New: func() runtime.Object { return s.Resource.New() },
		Encode: func(o runtime.Object) ([]byte, error) {
			body, err := wire.JSONBody(o)
			if err != nil {
				return nil, err
			}
			return wire.AppendObject(nil, s.head(), body), nil
		},
		Decode: func(data []byte, into runtime.Object, strict bool) error {
			return s.decodePatched(data, into, gvk, strict)
		},
		Default: func(o runtime.Object) { s.setDefaults(o.(resource.Object)) },
	}
}

// decodePatched reads what a patch made; it must still be of the kind.
func (s *Scope) decodePatched(data []byte, into runtime.Object, want schema.GroupVersionKind, strict bool) error {
	set := s.handlers.decoders.lax
	if strict {
		set = s.handlers.decoders.strict
	}
	obj, gvk, err := set[negotiation.JSON].Decode(data, nil, into)
	if tree, ok := into.(*unstructured.Unstructured); ok && obj == into {
		_, err = s.coerce(tree, err, strict)
	}
	if err != nil && !runtime.IsStrictDecodingError(err) {
		return err
	}
	if obj != into {
		return s.unconvertible(*gvk, want)
	}
	resource.Untype(obj)
	return err
}
