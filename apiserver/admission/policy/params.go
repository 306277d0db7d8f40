package policy

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// paramRegistry finds the registry of a policy's parameters; nil for a policy without.
func (o *Options) paramRegistry(k *admissionv1.ParamKind) (*registry.Registry, error) {
	if k == nil {
		return nil, nil
	}
	gv, err := schema.ParseGroupVersion(k.APIVersion)
	if err != nil {
		return nil, fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
	}
	gvk := gv.WithKind(k.Kind)
	r := o.Kind(gvk)
	if r == nil {
		return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", gvk)
	}
	return r, nil
}

// params gives the objects that a policy is to be evaluated with; a single nil where it takes none. Where it takes some and
// there are none, it is not evaluated.
func params(ctx context.Context, r *registry.Registry, ref *admissionv1.ParamRef, namespace string) ([]runtime.Object, error) {
	if r == nil || ref == nil {
		return []runtime.Object{nil}, nil
	}
	switch {
	case !r.Resource.Namespaced:
		namespace = ""
	case ref.Namespace != "":
		namespace = ref.Namespace
	case namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	}
	if ref.Namespace != "" && !r.Resource.Namespaced {
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	}
	found, err := findParams(ctx, r, ref, namespace)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == admissionv1.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, nil
}

func findParams(ctx context.Context, r *registry.Registry, ref *admissionv1.ParamRef, namespace string) ([]runtime.Object, error) {
	if ref.Name != "" {
		if ref.Selector != nil {
			return nil, errors.New("paramRef.name and paramRef.selector are mutually exclusive")
		}
		res, err := r.Get(ctx, namespace, ref.Name, "")
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		p, err := param(r, res)
		return []runtime.Object{p}, err
	}
	if ref.Selector == nil {
		return nil, errors.New("one of name or selector must be provided")
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	if err != nil {
		return nil, err
	}
	list, err := r.List(ctx, namespace, &internalversion.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	var out []runtime.Object
	for _, e := range list.Entries {
		p, err := param(r, &registry.Result{Entry: e})
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// param decodes a parameter object; it says its kind.
func param(r *registry.Registry, res *registry.Result) (runtime.Object, error) {
	obj, err := r.Object(res)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(r.Resource.GVK())
	return obj, nil
}
