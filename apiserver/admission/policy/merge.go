package policy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
	smd "sigs.k8s.io/structured-merge-diff/v6/typed"
	smdvalue "sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
)

// emptyLike makes an empty object of the same type.
func emptyLike(obj runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
}

// merge merges an apply configuration, as an expression made it, into a version's object. Fields come to belong to nobody.
func merge(value ref.Val, v *review.Version, types managedfields.TypeConverter) (*unstructured.Unstructured, error) {
	made, ok := value.(*dynamic.ObjectVal)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", value.Type())
	}
	if err := made.CheckTypeNamesMatchFieldPathNames(); err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	tree, ok := made.Value().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid return type: %T", value)
	}
	if v.Kind != v.Resource.GVK() {
		// The structure of what a subresource takes is known to nobody, as on a genuine server.
		return nil, fmt.Errorf("error applying patch: failed to convert patch object to typed object: no corresponding type for %v", v.Kind)
	}
	configuration := &unstructured.Unstructured{Object: tree}
	configuration.SetGroupVersionKind(v.Kind)
	merged, err := mergeTyped(configuration, v.Object, types)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: %w", err)
	}
	return merged, nil
}

func mergeTyped(configuration *unstructured.Unstructured, live runtime.Object, types managedfields.TypeConverter) (*unstructured.Unstructured, error) {
	wanted, err := types.ObjectToTyped(configuration)
	if err != nil {
		return nil, fmt.Errorf("failed to convert patch object to typed object: %w", err)
	}
	if found := atomics(nil, wanted.Schema(), wanted.TypeRef(), wanted.AsValue()); len(found) > 0 {
		return nil, fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %v", strings.Join(found, ", "))
	}
	present, err := types.ObjectToTyped(live, smd.AllowDuplicates)
	if err != nil {
		return nil, fmt.Errorf("failed to convert original object to typed object: %w", err)
	}
	merged, err := present.Merge(wanted)
	if err != nil {
		return nil, fmt.Errorf("failed to merge patch: %w", err)
	}
	tree, ok := merged.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, errors.New("failed to convert typed object to object: it is no map")
	}
	return &unstructured.Unstructured{Object: tree}, nil
}

// atomics finds what can only be replaced as a whole: an expression that names some of it would drop the rest.
func atomics(path fieldpath.Path, s *smdschema.Schema, t smdschema.TypeRef, v smdvalue.Value) []string {
	a, ok := s.Resolve(t)
	if !ok {
		return nil
	}
	var found []string
	switch {
	case v.IsMap() && a.Map != nil:
		if a.Map.ElementRelationship == smdschema.Atomic {
			found = append(found, path.String())
		}
		v.AsMap().Iterate(func(key string, child smdvalue.Value) bool {
			if f, ok := a.Map.FindField(key); ok {
				found = append(found, atomics(append(path.Copy(), fieldpath.PathElement{FieldName: &key}), s, f.Type, child)...)
			}
			return true
		})
	case v.IsList() && a.List != nil:
		if a.List.ElementRelationship == smdschema.Atomic {
			found = append(found, path.String())
		}
		list := v.AsList()
		for i := range list.Length() {
			found = append(found, atomics(append(path.Copy(), fieldpath.PathElement{Index: &i}), s, a.List.ElementType, list.At(i))...)
		}
	}
	return found
}
