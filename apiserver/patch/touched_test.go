package patch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

// pods are patched as the API server does it; whole says to leave nothing out.
var pods = Target{
	New:    func() runtime.Object { return &corev1.Pod{} },
	Encode: func(o runtime.Object) ([]byte, error) { return json.Marshal(o) },
	Decode: func(data []byte, into runtime.Object, strict bool) error {
		found, err := kjson.UnmarshalStrict(data, into)
		if err == nil && strict && len(found) > 0 {
			return runtime.NewStrictDecodingError(found)
		}
		return err
	},
	Default: func(o runtime.Object) {
		if pod, ok := o.(*corev1.Pod); ok && pod.Spec.RestartPolicy == "" {
			pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
		}
	},
}

func somePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", UID: "u", Labels: map[string]string{"a": "b"}, Finalizers: []string{"x/y", "x/z"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Update", FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: "Ready", Status: "False"}}},
	}
}

// whole does the patch on the whole object, as if every field had been named.
func whole(t *testing.T, kind types.PatchType, body string) (runtime.Object, error) {
	t.Helper()
	pod := somePod()
	before, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	p := &Patch{Type: kind, Body: []byte(body), Directive: metav1.FieldValidationStrict}
	if kind == types.MergePatchType {
		after, found, err := p.merge(before)
		if err != nil {
			return nil, err
		}
		obj := pods.New()
		if err := pods.Decode(after, obj, true); err != nil || len(found) > 0 {
			return nil, fmt.Errorf("%w, %v", err, found)
		}
		pods.complete(obj)
		return obj, nil
	}
	change, tree := map[string]any{}, map[string]any{}
	if found, err := kjson.UnmarshalStrict(p.Body, &change); err != nil || len(found) > 0 {
		return nil, fmt.Errorf("%w, %v", err, found)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(before, &tree); err != nil {
		return nil, err
	}
	after, err := mergeStrategically(tree, change, pods.New())
	if err != nil {
		return nil, err
	}
	obj := pods.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after, obj, true); err != nil {
		return nil, err
	}
	pods.complete(obj)
	return obj, nil
}

// TestTouched: a patch on the fields that it names does what it does on the whole object.
func TestTouched(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{}`, `{"status":{"phase":"Running"}}`, `{"status":null}`, `{"spec":null}`, `{"metadata":{"uid":"u"},"status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
		`{"metadata":{"labels":{"a":null,"c":"d"}}}`, `{"metadata":{"finalizers":null}}`, `{"metadata":{"managedFields":null}}`, `{"metadata":{"managedFields":[]}}`, `{"metadata":null}`,
		`{"metadata":{"$deleteFromPrimitiveList/finalizers":["x/y"]}}`, `{"metadata":{"labels":{"$patch":"replace","n":"m"}}}`, `{"$patch":"replace","metadata":{"name":"p"}}`, `{"$patch":"delete"}`,
		`{"spec":{"$setElementOrder/containers":[{"name":"d"},{"name":"c"}],"containers":[{"name":"d","image":"j"}]}}`, `{"spec":{"containers":[{"$patch":"delete","name":"c"}]}}`,
		`{"spec":{"restartPolicy":null}}`, `{"kind":"Pod","apiVersion":"v1"}`, `{"kind":"Other"}`, `{"status":{"phase":1}}`, `{"status":[]}`, `{"unknown":1}`, `{"status":{"unknown":1}}`, `{"spec":{"containers":1}}`,
		`null`, `[]`, `"text"`, `1`, `{"status":{"phase":"a","phase":"b"}}`,
		`{"metadata":1}`, `{"status":{"conditions":[{"status":"True"}]}}`,
	} {
		for _, kind := range []types.PatchType{types.StrategicMergePatchType, types.MergePatchType} {
			want, wantErr := whole(t, kind, body)
			pod := somePod()
			got, err := (&Patch{Type: kind, Body: []byte(body), Directive: metav1.FieldValidationStrict}).Apply(pod, pods)
			if (err == nil) != (wantErr == nil) {
				t.Errorf("%s %s: error %v; on the whole %v", kind, body, err, wantErr)
			}
			if err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s:\n%+v; on the whole\n%+v", kind, body, got, want)
			}
			if !reflect.DeepEqual(pod, somePod()) {
				t.Errorf("%s %s: the patched object has changed", kind, body)
			}
		}
	}
}

// TestTouchedTree: an object without a Go type is patched as a whole, and keeps its managers.
func TestTouchedTree(t *testing.T) {
	t.Parallel()
	tree := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Thing", "spec": map[string]any{"a": "b"},
			"metadata": map[string]any{"name": "t", "managedFields": []any{map[string]any{"manager": "m", "operation": "Apply"}}},
		}}
	}
	things := Target{
		New:    func() runtime.Object { return &unstructured.Unstructured{} },
		Encode: func(o runtime.Object) ([]byte, error) { return json.Marshal(o) },
		Decode: func(data []byte, into runtime.Object, _ bool) error { return json.Unmarshal(data, into) },
	}
	before := tree()
	got, err := (&Patch{Type: types.MergePatchType, Body: []byte(`{"spec":{"c":"d"}}`), Directive: metav1.FieldValidationStrict}).Apply(before, things)
	if err != nil {
		t.Fatal(err)
	}
	want := tree()
	want.Object["spec"].(map[string]any)["c"] = "d"
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(before, tree()) {
		t.Errorf("%v of %v; want %v", got, before, want)
	}
}
