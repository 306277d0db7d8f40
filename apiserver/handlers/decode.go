package handlers

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// maxBody is how many bytes a request's body may have.
const maxBody = 3 << 20

// decoders by media type, lax and strict.
type decoders struct {
	lax, strict map[negotiation.Media]runtime.Decoder
}

func newDecoders(s *runtime.Scheme) decoders {
	of := func(strict bool) map[negotiation.Media]runtime.Decoder {
		text := func(yaml bool) runtime.Decoder {
			return json.NewSerializerWithOptions(json.DefaultMetaFactory, s, s, json.SerializerOptions{Yaml: yaml, Strict: strict})
		}
		return map[negotiation.Media]runtime.Decoder{
			negotiation.JSON: text(false), negotiation.YAML: text(true), negotiation.Protobuf: protobuf.NewSerializer(s, s),
		}
	}
	return decoders{lax: of(false), strict: of(true)}
}

// foreseen is how many bytes of a body get room before they came.
const foreseen = 64 << 10

// readBody reads a body of bounded size.
func readBody(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	if n := r.ContentLength; n > 0 {
		b.Grow(int(min(n, foreseen)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(r.Body, maxBody+1)); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if b.Len() > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	return b.Bytes(), nil
}

// decode reads the endpoint's object from a body. Unknown and duplicate fields are errors, warnings or nothing, as directive says.
func (s *Scope) decode(ctx context.Context, body []byte, m negotiation.Media, directive string, into runtime.Object) (runtime.Object, error) {
	set := s.handlers.decoders.lax
	if directive != metav1.FieldValidationIgnore {
		set = s.handlers.decoders.strict
	}
	want := s.gvk()
	obj, gvk, err := set[m].Decode(body, &want, into)
	obj, err = s.coerce(obj, err, directive != metav1.FieldValidationIgnore)
	var found []error
	if err != nil {
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok || obj == nil || directive != metav1.FieldValidationWarn {
			return nil, decodeError(err, want, gvk, body)
		}
		found = strict.Errors()
	}
	if old, ok := obj.(*policyv1beta1.Eviction); ok && want.Kind == "Eviction" {
		// The endpoint takes both versions: clients of a time before v1 still evict.
		obj, gvk = &policyv1.Eviction{ObjectMeta: old.ObjectMeta, DeleteOptions: old.DeleteOptions}, &want
	}
	if reflect.TypeOf(obj) != reflect.TypeOf(into) {
		return nil, decodeError(s.unconvertible(*gvk, want), want, gvk, body)
	}
	if gvk.GroupVersion() != want.GroupVersion() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", gvk.GroupVersion(), want.GroupVersion()))
	}
	warnStrict(ctx, found)
	resource.Untype(obj)
	return obj, nil
}

// coerce brings what was decoded into the form of its schema, where no Go type did. Fields that are not in it join what a strict
// decoder found.
func (s *Scope) coerce(obj runtime.Object, err error, strict bool) (runtime.Object, error) {
	tree, ok := obj.(*unstructured.Unstructured)
	if s.Resource.Coerce == nil || !ok || (err != nil && !runtime.IsStrictDecodingError(err)) {
		return obj, err
	}
	var found []error
	if known, ok := runtime.AsStrictDecodingError(err); ok {
		found = known.Errors()
	}
	unknown, err := s.Resource.Coerce(tree, strict)
	if err != nil {
		return nil, err
	}
	for _, path := range unknown {
		found = append(found, fmt.Errorf("unknown field \"%s\"", path)) //nolint:gocritic // the path is not escaped: upstream's text
	}
	if len(found) > 0 && strict {
		return obj, runtime.NewStrictDecodingError(found)
	}
	return obj, nil
}

// unconvertible is the error for an object of another kind than is wanted. A genuine server names its internal type.
func (s *Scope) unconvertible(got, want schema.GroupVersionKind) error {
	// Kinds whose structure client-go doesn't know have a server of their own within the genuine one, which knows no other kinds.
	if s.Resource.Structure != "" {
		return fmt.Errorf("no kind %q is registered for version %q in scheme %q", got.Kind, got.GroupVersion(), "pkg/runtime/scheme.go:111")
	}
	return fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", got.Version, got.Kind, internalPackage(want.Group), want.Kind)
}

// internalPackage is the Go package of a genuine server's internal types, which its errors name.
func internalPackage(group string) string {
	internal, _, _ := strings.Cut(group, ".")
	if internal == "" || internal == "events" {
		return "core"
	}
	return internal
}

func (s *Scope) internal() string { return internalPackage(s.Resource.Group) }

// warnStrict makes warnings of what a strict decoder found; YAML's comes as several lines in one.
func warnStrict(ctx context.Context, errs []error) {
	for _, e := range errs {
		_, lines, ok := strings.Cut(e.Error(), "yaml: unmarshal errors:\n")
		if !ok {
			request.Warn(ctx, e.Error())
			continue
		}
		for _, line := range strings.Split(lines, "\n") {
			request.Warn(ctx, strings.TrimSpace(line))
		}
	}
}

// decodeError says what the body was taken for.
func decodeError(err error, want schema.GroupVersionKind, got *schema.GroupVersionKind, body []byte) error {
	if got != nil && got.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(body)))
}

// summary shows the beginning of a body: as it is if it looks like JSON, else in hexadecimal.
func summary(body []byte) string {
	const most = 30
	show := func(b []byte) string { return string(b) }
	if len(body) == 0 {
		return "<empty>"
	}
	if body[0] != '{' {
		show = hex.EncodeToString
	}
	if len(body) > most {
		return show(body[:most]) + " ..."
	}
	return show(body)
}

// parameters reads a request's query into options.
func parameters(r *http.Request, into runtime.Object) error {
	if err := metainternalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, into); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// deleteOptions reads the options of a deletion, from the body or else from the query.
func (s *Scope) deleteOptions(r *http.Request) (*metav1.DeleteOptions, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	o := &metav1.DeleteOptions{}
	if len(body) == 0 {
		if err := parameters(r, o); err != nil {
			return nil, err
		}
	} else if err := s.decodeDeleteOptions(r, body, o); err != nil {
		return nil, err
	}
	if errs := validation.ValidateDeleteOptions(o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(metaKind("DeleteOptions"), "", errs)
	}
	return o, nil
}

func (s *Scope) decodeDeleteOptions(r *http.Request, body []byte, o *metav1.DeleteOptions) error {
	m, err := negotiation.Body(r)
	if err != nil {
		return err
	}
	// Every group version knows DeleteOptions; it is one type.
	want := schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
	obj, got, err := s.handlers.decoders.lax[m].Decode(body, &want, o)
	if runtime.IsNotRegisteredError(err) && got.Kind == want.Kind {
		// So does every other one, be it known or not.
		var text []byte
		if text, err = yaml.YAMLToJSON(body); err == nil {
			obj, err = o, kjson.UnmarshalCaseSensitivePreserveInts(text, o)
		}
	}
	switch {
	case err != nil:
		return apierrors.NewBadRequest(err.Error())
	case obj != runtime.Object(o):
		return apierrors.NewBadRequest(fmt.Sprintf("no kind %q is registered for version %q in scheme %q", got.Kind, got.GroupVersion(), "pkg/runtime/scheme.go:111"))
	}
	return nil
}

func metaKind(kind string) schema.GroupKind {
	return schema.GroupKind{Group: metav1.GroupName, Kind: kind}
}

// directive is the field validation asked for.
func directive(s string) string {
	if s == "" {
		return metav1.FieldValidationWarn
	}
	return s
}

// manager is the field manager's name: as given, or what the user agent begins with.
func manager(given string, r *http.Request) string {
	if given != "" {
		return given
	}
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	var b strings.Builder
	for _, c := range agent {
		if !unicode.IsPrint(c) {
			continue
		}
		if b.Len()+utf8.RuneLen(c) > validation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(c)
	}
	return b.String()
}
