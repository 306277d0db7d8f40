package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
)

// applyPatch applies a JSON patch, as an expression made it, to a version's object. A test that fails leaves it as it is.
func applyPatch(value ref.Val, v *review.Version, scheme *runtime.Scheme) (runtime.Object, error) {
	patch, err := patchOf(value)
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(v.Object)
	if err != nil {
		return nil, fmt.Errorf("failed to create JSON patch: %w", err)
	}
	after, err := patch.Apply(before)
	if errors.Is(err, jsonpatch.ErrTestFailed) {
		return v.Object, nil
	}
	if err != nil {
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	strict := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme, scheme, jsonserializer.SerializerOptions{Strict: true})
	out, _, err := strict.Decode(after, nil, emptyLike(v.Object))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return out, nil
}

// patchOf makes a JSON patch of a list of operations.
func patchOf(value ref.Val) (jsonpatch.Patch, error) {
	list, ok := value.(traits.Lister)
	if !ok {
		return nil, errors.New("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	var out jsonpatch.Patch
	for it := list.Iterator(); it.HasNext() == celtypes.True; {
		native, err := it.Next().ConvertToNative(reflect.TypeFor[*mutation.JSONPatchVal]())
		if err != nil {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: %w", err)
		}
		o, ok := native.(*mutation.JSONPatchVal)
		if !ok {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of %T", native)
		}
		operation, err := operationOf(o)
		if err != nil {
			return nil, err
		}
		out = append(out, operation)
	}
	return out, nil
}

func operationOf(o *mutation.JSONPatchVal) (jsonpatch.Operation, error) {
	quoted := func(s string) *json.RawMessage {
		m := json.RawMessage(strconv.Quote(s))
		return &m
	}
	out := jsonpatch.Operation{"op": quoted(o.Op), "path": quoted(o.Path)}
	if o.From != "" {
		out["from"] = quoted(o.From)
	}
	if o.Val == nil {
		return out, nil
	}
	if made, ok := o.Val.(*dynamic.ObjectVal); ok {
		if err := made.CheckTypeNamesMatchFieldPathNames(); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
	}
	const text = "JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w"
	native, err := o.Val.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return nil, fmt.Errorf(text, err)
	}
	b, err := json.Marshal(native)
	if err != nil {
		return nil, fmt.Errorf(text, err)
	}
	raw := json.RawMessage(b)
	out["value"] = &raw
	return out, nil
}
