package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// maxOperations is how many operations a JSON patch may have.
const maxOperations = 10_000

// Types that a resource takes, in the order in which they are listed to a client that sent another.
var Types = []string{
	string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType),
}

// UntypedTypes are those that an object without a Go type takes: there are no tags to merge by.
var UntypedTypes = []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}

// Patch is a patch as it was sent.
type Patch struct {
	Type types.PatchType
	Body []byte
	// Directive says what becomes of unknown and duplicate fields: metav1.FieldValidationStrict, Warn or Ignore.
	Directive string
	// Warn takes what the directive makes warnings of.
	Warn func([]error)
}

// Target is what kind of object is patched.
type Target struct {
	// New makes an empty object.
	New func() runtime.Object
	// Encode makes an object's whole JSON, kind and apiVersion included.
	Encode func(runtime.Object) ([]byte, error)
	// Decode reads a whole JSON into an empty object; strictly, unknown and duplicate fields are a strict decoding error.
	Decode func(data []byte, into runtime.Object, strict bool) error
	// Default sets what is left out; nil: nothing.
	Default func(runtime.Object)
}

// complete sets what a patched object leaves out.
func (t Target) complete(obj runtime.Object) {
	if t.Default != nil {
		t.Default(obj)
	}
}

func (p *Patch) strict() bool { return p.Directive != metav1.FieldValidationIgnore }

// Check refuses a body that can't be a patch of its type.
func (p *Patch) Check() error {
	if p.Type == types.ApplyYAMLPatchType {
		if bytes.HasPrefix(bytes.TrimLeftFunc(p.Body, unicode.IsSpace), []byte("{")) {
			return nil // taken for JSON; what it is shows when it is decoded
		}
		if _, err := yaml.YAMLToJSON(p.Body); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
		return nil
	}
	if !json.Valid(p.Body) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// Apply makes the patched object of the current one, which stays as it is. Applied configurations are merged by their field manager instead.
func (p *Patch) Apply(current runtime.Object, t Target) (runtime.Object, error) {
	if p.Type == types.StrategicMergePatchType {
		return p.strategic(current, t)
	}
	if p.Type == types.MergePatchType {
		if obj := p.mergePart(current, t); obj != nil {
			return obj, nil
		}
	}
	before, err := t.Encode(current)
	if err != nil {
		return nil, err
	}
	apply := p.json
	if p.Type == types.MergePatchType {
		apply = p.merge
	}
	after, found, err := apply(before)
	if err != nil {
		return nil, err
	}
	obj := t.New()
	err = t.Decode(after, obj, p.strict())
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		found = append(found, strict.Errors()...)
	} else if err != nil {
		return nil, invalid(string(after), err)
	}
	if err := p.settle(found, string(after)); err != nil {
		return nil, err
	}
	t.complete(obj)
	return obj, nil
}

// mergePart does a merge patch on the fields that it names. It gives nil where anything is not as it should be: then the whole is to be
// merged, of which errors tell.
func (p *Patch) mergePart(current runtime.Object, t Target) runtime.Object {
	change := map[string]any{}
	if found, err := kjson.UnmarshalStrict(p.Body, &change); err != nil || len(found) > 0 {
		return nil
	}
	touched := touchedBy(change, current)
	if touched == nil {
		return nil
	}
	before, err := t.Encode(touched.of(current))
	if err != nil {
		return nil
	}
	after, err := jsonpatch.MergePatch(before, p.Body)
	if err != nil {
		return nil
	}
	obj := t.New()
	if err := t.Decode(after, obj, p.strict()); err != nil {
		return nil
	}
	touched.complete(obj, current)
	t.complete(obj)
	return obj
}

// settle turns what was found unfit into warnings or an error.
func (p *Patch) settle(found []error, value string) error {
	switch {
	case len(found) == 0:
	case p.Directive == metav1.FieldValidationWarn:
		p.Warn(found)
	case p.Directive == metav1.FieldValidationStrict:
		return invalid(value, runtime.NewStrictDecodingError(found))
	}
	return nil
}

func invalid(value string, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), value, err.Error())})
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// operation is one step of a JSON patch, to find fields that are none of it.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// maxCopied is how many bytes the copies of one JSON patch may add: as a genuine server's limit. Without one a few operations that
// copy the whole into itself outgrow any memory.
const maxCopied = 3 << 20

func init() {
	jsonpatch.AccumulatedCopySizeLimit = maxCopied // the library has no other way to be told
}

func (p *Patch) json(before []byte) (after []byte, found []error, err error) {
	if p.strict() {
		var ops []operation
		if found, err = kjson.UnmarshalStrict(p.Body, &ops); err != nil {
			// The error names the Go type, which is another in a genuine server.
			text := strings.ReplaceAll(err.Error(), "patch.operation", "handlers.jsonPatchOp")
			return nil, nil, apierrors.NewBadRequest("error decoding patch: " + text)
		}
		for i, e := range found {
			found[i] = fmt.Errorf("json patch %w", e)
		}
	}
	ops, err := jsonpatch.DecodePatch(p.Body)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(ops) > maxOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(ops)))
	}
	if after, err = ops.Apply(before); err != nil {
		return nil, nil, unprocessable(err)
	}
	return after, found, nil
}

func (p *Patch) merge(before []byte) (after []byte, found []error, err error) {
	if p.strict() {
		v := map[string]any{}
		if found, err = kjson.UnmarshalStrict(p.Body, &v); err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
	}
	after, err = jsonpatch.MergePatch(before, p.Body)
	if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return after, found, err
}

// strategic merges by the patch strategies that stand in the tags of the object's Go type.
func (p *Patch) strategic(current runtime.Object, t Target) (runtime.Object, error) {
	change := map[string]any{}
	var found []error
	var err error
	if p.strict() {
		found, err = kjson.UnmarshalStrict(p.Body, &change)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(p.Body, &change)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	touched := touchedBy(change, current)
	if len(found) == 0 {
		if obj := typed(current, change, touched); obj != nil {
			t.complete(obj)
			return obj, nil
		}
	}
	return p.trees(current, t, change, touched, found)
}

// trees merges what is touched of the object, as a tree, with the change, which it uses up.
func (p *Patch) trees(current runtime.Object, t Target, change map[string]any, touched touched, found []error) (runtime.Object, error) {
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(touched.of(current))
	if err != nil {
		return nil, err
	}
	after, err := mergeStrategically(before, change, t.New())
	if err != nil {
		return nil, strategicError(err)
	}
	obj := t.New()
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after, obj, p.strict())
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		found = append(found, strict.Errors()...)
	} else if err != nil {
		return nil, invalid(fmt.Sprintf("%+v", change), err)
	}
	if err := p.settle(found, fmt.Sprintf("%+v", change)); err != nil {
		return nil, err
	}
	touched.complete(obj, current)
	t.complete(obj)
	return obj, nil
}

// mergeStrategically is strategicpatch's merge. That panics on directives of a form that it doesn't expect.
func mergeStrategically(before, change map[string]any, like runtime.Object) (after map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierrors.NewBadRequest(fmt.Sprintf("the patch has a directive of an unexpected form: %v", r))
		}
	}()
	return strategicpatch.StrategicMergeMapPatch(before, change, like)
}

func strategicError(err error) error {
	for _, bad := range []error{
		mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat,
	} {
		if errors.Is(err, bad) {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	if errors.Is(err, mergepatch.ErrNoListOfLists) || errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys) {
		return unprocessable(err)
	}
	return err
}

// Configuration reads an applied configuration.
func (p *Patch) Configuration() (*unstructured.Unstructured, error) {
	if tree, is := plain(p.Body); is {
		return &unstructured.Unstructured{Object: tree}, nil
	}
	tree, err := fromYAML(p.Body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return &unstructured.Unstructured{Object: tree}, nil
}

// fromYAML reads a tree in which whole numbers are no fractions: it is stored as it is.
func fromYAML(body []byte) (map[string]any, error) {
	tree := map[string]any{}
	if err := yaml.Unmarshal(body, &tree); err != nil {
		return nil, err
	}
	whole, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, err
	}
	tree = map[string]any{}
	return tree, kjson.UnmarshalCaseSensitivePreserveInts(whole, &tree)
}

// CheckConfiguration finds duplicate keys in an applied configuration. It comes after the merge, whose errors go first.
func (p *Patch) CheckConfiguration() error {
	if !p.strict() {
		return nil
	}
	if _, is := plain(p.Body); is {
		return nil
	}
	return p.checkYAML()
}

func (p *Patch) checkYAML() error {
	if err := yaml.UnmarshalStrict(p.Body, &map[string]any{}); err != nil {
		if p.Directive == metav1.FieldValidationStrict {
			return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
		}
		p.Warn([]error{err})
	}
	return nil
}
