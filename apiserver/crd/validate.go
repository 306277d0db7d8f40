package crd

import (
	"context"
	"fmt"
	"math"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/operation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// notAllText is told where an object is so wrong that its rules can't be evaluated.
const notAllText = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

func (v *version) validateCreate(ctx context.Context, u tree) field.ErrorList {
	r, err := v.rules()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	errs := v.validateType(u)
	if len(errs) == 0 {
		errs = validateMeta(ctx, u, nil, v.namespaced())
		errs = append(errs, schemavalidation.ValidateCustomResource(nil, u.Object, r.whole)...)
		errs = append(errs, v.validateScaleSpec(u)...)
		errs = append(errs, v.validateScaleStatus(u)...)
	}
	errs = append(errs, objectmeta.Validate(ctx, nil, u.Object, r.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.structural, u.Object)...)
	return append(errs, r.evaluate(ctx, errs, u.Object, nil)...)
}

func (v *version) validateUpdate(ctx context.Context, u, old tree) field.ErrorList {
	r, err := v.rules()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	// What did not change since it was valid is not judged anew.
	both := common.NewCorrelatedObject(u.Object, old.Object, &model.Structural{Structural: r.structural})
	errs := v.validateType(u)
	if len(errs) == 0 {
		errs = validateMeta(ctx, u, old, v.namespaced())
		errs = append(errs, schemavalidation.ValidateCustomResourceUpdate(nil, u.Object, old.Object, r.whole, schemavalidation.WithRatcheting(both))...)
		errs = append(errs, v.validateScaleSpec(u)...)
		errs = append(errs, v.validateScaleStatus(u)...)
	}
	errs = append(errs, objectmeta.Validate(ctx, nil, u.Object, r.structural, false)...)
	errs = append(errs, r.lists(u, old)...)
	return append(errs, r.evaluate(ctx, errs, u.Object, old.Object, cel.WithRatcheting(both))...)
}

func (v *version) validateStatus(ctx context.Context, u, old tree) field.ErrorList {
	r, err := v.rules()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	both := common.NewCorrelatedObject(u.Object, old.Object, &model.Structural{Structural: r.structural})
	errs := v.validateType(u)
	if len(errs) == 0 {
		errs = validateMeta(ctx, u, old, v.namespaced())
		if status, ok := u.Object["status"]; ok {
			var options []schemavalidation.ValidationOption
			if r.structural != nil {
				options = append(options, schemavalidation.WithRatcheting(both.Key("status")))
			}
			errs = append(errs, schemavalidation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old.Object["status"], r.status, options...)...)
		}
		errs = append(errs, v.validateScaleStatus(u)...)
	}
	errs = append(errs, r.lists(u, old)...)
	return append(errs, r.evaluate(ctx, errs, u.Object, old.Object, cel.WithRatcheting(both))...)
}

// lists judges sets and maps, unless they were wrong before.
func (r *rules) lists(u, old tree) field.ErrorList {
	errs := listtype.ValidateListSetsAndMaps(nil, r.structural, u.Object)
	if len(errs) > 0 && len(listtype.ValidateListSetsAndMaps(nil, r.structural, old.Object)) > 0 {
		return nil
	}
	return errs
}

// evaluate applies the expressions, where what was found before does not stand against it.
func (r *rules) evaluate(ctx context.Context, before field.ErrorList, obj, old any, options ...cel.Option) field.ErrorList {
	if r.expressions == nil {
		return nil
	}
	for _, e := range before {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return field.ErrorList{field.Invalid(nil, nil, notAllText)}
		default:
		}
	}
	errs, _ := r.expressions.Validate(ctx, nil, r.structural, obj, old, budget, options...)
	return errs
}

func (v *version) validateType(u tree) field.ErrorList {
	var errs field.ErrorList
	if kind := u.GetKind(); kind != v.gvk.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), kind, "must be "+v.gvk.Kind))
	}
	if want := v.gvk.GroupVersion().String(); u.GetAPIVersion() != want {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), u.GetAPIVersion(), "must be "+want))
	}
	return errs
}

// validateMeta judges metadata; old is nil for a new object.
func validateMeta(ctx context.Context, u, old tree, namespaced bool) field.ErrorList {
	path := field.NewPath("metadata")
	now, errs := metaOf(u)
	if len(errs) > 0 {
		return errs
	}
	if old == nil {
		return apivalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, now, nil, namespaced, apivalidation.NameIsDNSSubdomain, path, true)
	}
	before, errs := metaOf(old)
	if len(errs) > 0 {
		return errs
	}
	return apivalidation.ValidateObjectMetaDeclaratively(ctx, operation.Update, now, before, namespaced, nil, path, true)
}

func metaOf(u tree) (*metav1.ObjectMeta, field.ErrorList) {
	out := &metav1.ObjectMeta{}
	raw := u.Object["metadata"]
	if raw == nil {
		return out, nil
	}
	m, ok := raw.(map[string]any)
	if !ok {
		return nil, field.ErrorList{field.Invalid(field.NewPath("metadata"), raw, fmt.Sprintf("expected map[string]interface{}, got %T", raw))}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, out); err != nil {
		return nil, field.ErrorList{field.Invalid(field.NewPath("metadata"), raw, err.Error())}
	}
	return out, nil
}

func (v *version) validateScaleSpec(u tree) field.ErrorList {
	if s := v.scale(); s != nil {
		return validateReplicas(u, s.SpecReplicasPath)
	}
	return nil
}

func (v *version) validateScaleStatus(u tree) field.ErrorList {
	s := v.scale()
	if s == nil {
		return nil
	}
	errs := validateReplicas(u, s.StatusReplicasPath)
	if s.LabelSelectorPath != nil {
		text, _, err := unstructured.NestedString(u.Object, steps(*s.LabelSelectorPath)...)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*s.LabelSelectorPath), text, err.Error()))
		}
	}
	return errs
}

func validateReplicas(u tree, path string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(u.Object, steps(path)...)
	refuse := func(why string) field.ErrorList { return field.ErrorList{field.Invalid(field.NewPath(path), n, why)} }
	switch {
	case err != nil:
		return refuse(err.Error())
	case n < 0:
		return refuse("should be a non-negative integer")
	case n > math.MaxInt32:
		return refuse(fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))
	}
	return nil
}

// steps of a simple path such as .spec.replicas.
func steps(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
