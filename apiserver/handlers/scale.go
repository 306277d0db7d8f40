package handlers

import (
	"context"
	"math"
	"net/http"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	genericvalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/patch"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// scaleHandler serves the scale endpoint: the same Scale for every kind that can be scaled.
func (s *Scope) scaleHandler(method string) http.HandlerFunc {
	switch method {
	case http.MethodGet:
		return s.getScale
	case http.MethodPut:
		return s.updateScale
	case http.MethodPatch:
		return s.patchScale
	}
	return nil
}

// scaleView is how a Scale looks in a table.
var scaleView = &resource.Resource{
	Name: resource.Name{Group: resource.ScaleGVK.Group, Version: resource.ScaleGVK.Version, Kind: resource.ScaleGVK.Kind},
	Table: &resource.Table{
		Columns: []metav1.TableColumnDefinition{
			resource.Column("Name", "string", resource.NameColumn.Description),
			resource.Column("Desired", "integer", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
			resource.Column("Available", "integer", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]),
			resource.AgeColumn,
		},
		Row: func(o resource.Object) ([]any, []metav1.TableRowCondition) {
			sc := o.(*autoscalingv1.Scale)
			return []any{sc.Name, int64(sc.Spec.Replicas), int64(sc.Status.Replicas), resource.AgeOf(sc)}, nil
		},
	},
}

// scaleOf shows an object as a Scale.
func (s *Scope) scaleOf(obj resource.Object) (*autoscalingv1.Scale, error) {
	sc := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
			ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp()},
		Spec:   autoscalingv1.ScaleSpec{Replicas: s.Sub.Scale.Replicas(obj)},
		Status: autoscalingv1.ScaleStatus{Replicas: s.Sub.Scale.StatusReplicas(obj)},
	}
	if s.Sub.Scale.SelectorText != nil {
		var err error
		sc.Status.Selector, err = s.Sub.Scale.SelectorText(obj)
		return sc, err
	}
	selector, err := s.Sub.Scale.Selector(obj)
	if err != nil {
		return nil, err
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, err
	}
	sc.Status.Selector = parsed.String()
	return sc, nil
}

// scaleForm is how admission sees an object whose scale is written.
func (s *Scope) scaleForm() registry.View {
	return registry.View{
		Show: func(obj resource.Object) (runtime.Object, error) { return s.scaleOf(obj) },
		Take: func(obj resource.Object, changed runtime.Object) error {
			return s.setReplicas(obj, changed.(*autoscalingv1.Scale).Spec.Replicas)
		},
	}
}

func (s *Scope) writeScale(w http.ResponseWriter, r *http.Request, out negotiation.Output, obj resource.Object) {
	sc, err := s.scaleOf(obj)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	form := *scaleView
	if s.Sub.Scale.Table != nil {
		form.Table = s.Sub.Scale.Table
	}
	view := Scope{Resource: &form, Info: s.Info, handlers: s.handlers}
	view.object(w, r, http.StatusOK, out, &registry.Result{Object: sc})
}

func (s *Scope) getScale(w http.ResponseWriter, r *http.Request) {
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	o := &metav1.GetOptions{}
	if err := parameters(r, o); err != nil {
		s.fail(w, r, err)
		return
	}
	res, err := s.Registry.Get(r.Context(), s.Info.Namespace, s.Info.Name, o.ResourceVersion)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	obj, err := s.Registry.Object(res)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if unset := s.Sub.Scale.Unset; unset != nil && unset(obj) {
		s.fail(w, r, s.Sub.Scale.UnsetError(false))
		return
	}
	s.writeScale(w, r, out, obj)
}

func (s *Scope) updateScale(w http.ResponseWriter, r *http.Request) {
	out, err := s.output(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	wanted, o, err := s.scaleInput(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write := registry.WriteOptions{DryRun: len(o.DryRun) > 0, Manager: manager(o.FieldManager, r), Subresource: "scale", Options: o, View: s.scaleForm()}
	s.rescale(w, r, out, write, wanted.UID, false, func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error) { return wanted, nil })
}

// scaleInput reads an update's Scale and options.
func (s *Scope) scaleInput(r *http.Request) (*autoscalingv1.Scale, *metav1.UpdateOptions, error) {
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
	decoded, err := s.decode(r.Context(), body, m, directive(o.FieldValidation), &autoscalingv1.Scale{})
	if err != nil {
		return nil, nil, err
	}
	sc := decoded.(*autoscalingv1.Scale)
	if err := matchNamespace(s, sc); err != nil {
		return nil, nil, err
	}
	return sc, o, matchName(s, sc)
}

func (s *Scope) patchScale(w http.ResponseWriter, r *http.Request) {
	p, o, out, err := s.patchInput(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write := registry.WriteOptions{DryRun: len(o.DryRun) > 0, Manager: manager(o.FieldManager, r), Subresource: "scale", Options: o, View: s.scaleForm()}
	s.rescale(w, r, out, write, "", p.Type == types.ApplyYAMLPatchType, func(current *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
		if p.Type == types.ApplyYAMLPatchType {
			return s.applyScale(p, current, write.Manager, ptr.Deref(o.Force, false))
		}
		patched, err := p.Apply(current, s.scaleTarget())
		if err != nil {
			return nil, err
		}
		sc := patched.(*autoscalingv1.Scale)
		return sc, matchName(s, sc)
	})
}

// applyScale merges an applied configuration; who owns the replicas is taken over from the object, and put back by rescale.
func (s *Scope) applyScale(p *patch.Patch, current *autoscalingv1.Scale, manager string, force bool) (*autoscalingv1.Scale, error) {
	u, err := p.Configuration()
	if err != nil {
		return nil, err
	}
	sc, err := s.Registry.ApplyScale(current, u, manager, force)
	if err != nil {
		return nil, err
	}
	return sc, p.CheckConfiguration()
}

func (s *Scope) scaleTarget() patch.Target {
	return patch.Target{
		New: func() runtime.Object { return &autoscalingv1.Scale{} },
		Encode: func(o runtime.Object) ([]byte, error) {
			body, err := wire.JSONBody(o)
			if err != nil {
				return nil, err
			}
			return wire.AppendObject(nil, wire.Head(resource.ScaleGVK), body), nil
		},
		Decode: func(data []byte, into runtime.Object, strict bool) error {
			return s.decodePatched(data, into, resource.ScaleGVK, strict)
		},
	}
}

// rescale sets the replicas that a changed Scale wants.
func (s *Scope) rescale(w http.ResponseWriter, r *http.Request, out negotiation.Output, write registry.WriteOptions, uid types.UID, applied bool, change func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	transform := func(ctx context.Context, current resource.Object, exists bool) (resource.Object, error) {
		live := current.DeepCopyObject().(resource.Object)
		now, err := s.scaleOf(current)
		if err != nil {
			return nil, err
		}
		if unset := s.Sub.Scale.Unset; unset != nil && unset(current) {
			now.Spec.Replicas = noReplicas
		}
		if applied {
			if now.ManagedFields, err = s.Registry.ReplicasOwners(current); err != nil {
				return nil, err
			}
		}
		wanted, err := change(now)
		if err != nil {
			return nil, err
		}
		if errs := validateScale(wanted); len(errs) > 0 && s.Sub.Scale.SetReplicasErr == nil { // those who may refuse judge by themselves
			return nil, apierrors.NewInvalid(schema.GroupKind{Group: "autoscaling", Kind: "Scale"}, wanted.Name, errs)
		}
		if err := s.setReplicas(current, wanted.Spec.Replicas); err != nil {
			return nil, err
		}
		if wanted.ResourceVersion != "" {
			current.SetResourceVersion(wanted.ResourceVersion)
		}
		if applied {
			if err := s.Registry.OwnReplicas(current, wanted.ManagedFields); err != nil {
				return nil, err
			}
			return s.Registry.Patched(ctx, s.Info.Namespace, live, exists, current, write, true)
		}
		return s.Registry.Replace(ctx, s.Info.Namespace, live, exists, current, write)
	}
	res, err := s.Registry.Update(ctx, s.Info.Namespace, s.Info.Name, transform, registry.UpdateOptions{WriteOptions: write, UID: uid})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	obj, err := s.Registry.Object(res)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.writeScale(w, r, out, obj)
}

// noReplicas stands for a number that is missing while a Scale is changed.
const noReplicas = math.MinInt32

func (s *Scope) setReplicas(obj resource.Object, n int32) error {
	scale := s.Sub.Scale
	switch {
	case scale.UnsetError != nil && n == noReplicas:
		return scale.UnsetError(true)
	case scale.SetReplicasErr != nil:
		return scale.SetReplicasErr(obj, n)
	}
	scale.SetReplicas(obj, n)
	return nil
}

func validateScale(sc *autoscalingv1.Scale) field.ErrorList {
	errs := genericvalidation.ValidateObjectMeta(&sc.ObjectMeta, true, genericvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	if sc.Spec.Replicas < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), sc.Spec.Replicas, "must be greater than or equal to 0"))
	}
	return errs
}
