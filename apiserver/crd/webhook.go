package crd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/internal/callout"
)

// conversionTimeout bounds each call of a conversion webhook.
const conversionTimeout = 30 * time.Second

const conversionKind = "ConversionReview"

// webhook is the strategy Webhook: a server of the user's converts.
type webhook struct {
	versions []string // of ConversionReview that the server takes
	client   func() (*rest.RESTClient, error)
}

func newWebhook(w *apiextensionsv1.WebhookConversion, o callout.Options) *webhook {
	c := w.ClientConfig
	bundle := c.CABundle
	if len(bytes.TrimSpace(bundle)) == 0 {
		bundle = nil
	}
	t := callout.NewTarget(c.URL, nil, nil, bundle)
	if s := c.Service; s != nil {
		t = callout.NewTarget(nil, &callout.Service{Namespace: s.Namespace, Name: s.Name, Path: ptr.Deref(s.Path, "")}, s.Port, bundle)
	}
	return &webhook{versions: w.ConversionReviewVersions, client: sync.OnceValues(func() (*rest.RESTClient, error) { return callout.New(o, t) })}
}

// convert asks the webhook. Of metadata it may change labels and annotations alone.
func (w *webhook) convert(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	from := obj.GroupVersionKind()
	version, err := w.reviewVersion()
	if err != nil {
		return nil, err
	}
	id := uuid.NewUUID()
	answer, err := w.ask(obj, to, version, id)
	if err != nil {
		return nil, fmt.Errorf("conversion webhook for %v failed: %w", from, err)
	}
	converted, err := convertedObjects(answer, version, id)
	if err != nil {
		return nil, fmt.Errorf("conversion webhook for %v failed: %w", from, err)
	}
	if len(converted) != 1 {
		return nil, fmt.Errorf("conversion webhook for %v returned %d objects, expected %d", from, len(converted), 1)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(converted[0].Raw); err != nil {
		return nil, err
	}
	return out, accept(obj, out, to)
}

// reviewVersion is the first version that the webhook takes and we know.
func (w *webhook) reviewVersion() (string, error) {
	for _, v := range w.versions {
		if v == "v1" || v == "v1beta1" {
			return v, nil
		}
	}
	return "", errors.New("no supported conversion review versions")
}

// ask calls the webhook. Both versions of a review have the same form.
func (w *webhook) ask(obj *unstructured.Unstructured, to schema.GroupVersion, version string, id types.UID) ([]byte, error) {
	client, err := w.client()
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(&apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.GroupName + "/" + version, Kind: conversionKind},
		Request:  &apiextensionsv1.ConversionRequest{UID: id, DesiredAPIVersion: to.String(), Objects: []runtime.RawExtension{{Object: obj}}},
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), conversionTimeout)
	defer cancel()
	return callout.Post(ctx, client, body)
}

// convertedObjects reads an answer. Of one in v1beta1 neither its kind nor its uid is looked at.
func convertedObjects(answer []byte, version string, id types.UID) ([]runtime.RawExtension, error) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.Unmarshal(answer, review); err != nil {
		return nil, err
	}
	strict := version == apiextensionsv1.SchemeGroupVersion.Version
	if want := apiextensionsv1.SchemeGroupVersion.WithKind(conversionKind); strict && review.GroupVersionKind() != want {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want.String(), review.GroupVersionKind().String())
	}
	r := review.Response
	switch {
	case r == nil:
		return nil, errors.New("no response provided")
	case strict && r.UID != id:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", id, r.UID)
	case r.Result.Status != metav1.StatusSuccess && r.Result.Message != "":
		return nil, errors.New(r.Result.Message)
	case r.Result.Status != metav1.StatusSuccess:
		return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", r.Result.Status)
	}
	return r.ConvertedObjects, nil
}

// accept judges a converted object, and restores what the webhook may not change.
func accept(original, converted *unstructured.Unstructured, to schema.GroupVersion) error {
	from, got := original.GroupVersionKind(), converted.GroupVersionKind()
	if got.GroupVersion() != to {
		return fmt.Errorf("conversion webhook for %v returned invalid object at index 0: invalid groupVersion (expected %v, received %v)", from, to, got.GroupVersion())
	}
	if got.Kind != from.Kind {
		return fmt.Errorf("conversion webhook for %v returned invalid object at index 0: invalid kind (expected %v, received %v)", from, from.Kind, got.Kind)
	}
	for _, f := range []struct{ name, want, got string }{
		{"name", original.GetName(), converted.GetName()},
		{"namespace", original.GetNamespace(), converted.GetNamespace()},
		{"UID", string(original.GetUID()), string(converted.GetUID())},
	} {
		if f.want != f.got {
			return fmt.Errorf("conversion webhook for %v returned invalid object: must have the same %s: %v != %v", from, f.name, f.want, f.got)
		}
	}
	if err := restoreMeta(original, converted); err != nil {
		return fmt.Errorf("conversion webhook for %v returned invalid metadata: %w", from, err)
	}
	return nil
}

// restoreMeta gives a converted object the metadata that the original has, but for labels and annotations.
func restoreMeta(original, converted *unstructured.Unstructured) error {
	value, found := converted.Object["metadata"]
	if !found {
		return errors.New("missing metadata in converted object")
	}
	answered, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", value)
	}
	before, _ := original.Object["metadata"].(map[string]any)
	restored := maps.Clone(before)
	if restored == nil {
		restored = map[string]any{}
	}
	for _, name := range []string{"labels", "annotations"} {
		delete(restored, name)
		set, found := answered[name]
		if !found || set == nil {
			continue
		}
		if err := judge(name, set); err != nil {
			return err
		}
		restored[name] = set
	}
	converted.Object["metadata"] = restored
	return nil
}

// judge checks that labels or annotations are a map of strings, and well formed.
func judge(name string, set any) error {
	m, ok := set.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, set)
	}
	texts := make(map[string]string, len(m))
	for k, v := range m {
		if texts[k], ok = v.(string); !ok {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, k, v)
		}
	}
	if name == "labels" {
		return metav1validation.ValidateLabels(texts, field.NewPath("metadata", "labels")).ToAggregate()
	}
	return apivalidation.ValidateAnnotations(texts, field.NewPath("metadata", "annotation")).ToAggregate() // upstream's path
}
