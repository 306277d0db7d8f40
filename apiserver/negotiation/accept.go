package negotiation

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Media is an encoding.
type Media string

// The media types that are spoken.
const (
	JSON     Media = "application/json"
	YAML     Media = "application/yaml"
	Protobuf Media = "application/vnd.kubernetes.protobuf"
)

// all in the order of preference.
var all = []Media{JSON, YAML, Protobuf}

// Shape is what becomes of an object on its way out.
type Shape int

// Shapes: the object as it is, a table, or its metadata alone.
const (
	Full Shape = iota
	Table
	PartialMetadata
)

// Output is what a client accepts best.
type Output struct {
	Media  Media
	Shape  Shape
	As     schema.GroupVersionKind // of the shape, empty for Full
	Pretty bool
}

// Endpoint says what an endpoint can give.
type Endpoint struct {
	// Shapes: Table and PartialMetadata are possible.
	Shapes bool
	// Stream: only media that can stream.
	Stream bool
	// NoProtobuf: objects as they are have no protobuf form; their metadata has.
	NoProtobuf bool
}

// notAcceptable is the error for a client that accepts nothing that there is.
func notAcceptable(stream bool) error {
	return &statusError{code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
		text: "only the following media types are accepted: " + strings.Join(names(stream), ", ")}
}

// Unsupported is the error for a body in none of the forms that an endpoint takes.
func Unsupported(accepted ...string) error {
	return &statusError{code: http.StatusUnsupportedMediaType, reason: metav1.StatusReasonUnsupportedMediaType,
		text: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", ")}
}

func names(stream bool) []string {
	if stream {
		return []string{string(JSON) + ";stream=watch", string(Protobuf) + ";stream=watch"}
	}
	return []string{string(JSON), string(YAML), string(Protobuf)}
}

type statusError struct {
	code   int32
	reason metav1.StatusReason
	text   string
}

func (e *statusError) Error() string { return e.text }

func (e *statusError) Status() metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: e.code, Reason: e.reason, Message: e.text}
}

// Accepts says whether the client takes any of the media types at all, by its Accept header's names alone.
// Only a full wildcard counts as one: a genuine server's router does not know application/*.
func Accepts(r *http.Request) bool {
	header := r.Header.Get("Accept")
	if header == "" {
		return true
	}
	for _, c := range clauses(header) {
		if c.kind == "*" && c.sub == "*" || slices.Contains(all, Media(c.kind+"/"+c.sub)) {
			return true
		}
	}
	return false
}

// Available lists the media types as a client without any of them is told.
func Available() string { return strings.Join(names(false), ", ") }

// Negotiate chooses the output for a request.
func Negotiate(r *http.Request, e Endpoint) (Output, error) {
	header := r.Header.Get("Accept")
	if header == "" {
		return Output{Media: JSON, Pretty: pretty(r)}, nil
	}
	for _, c := range clauses(header) {
		for _, m := range all {
			if !c.covers(m) {
				continue
			}
			if out, ok := e.accept(m, c.params); ok {
				if e.Stream && m == YAML {
					return Output{}, notAcceptable(true)
				}
				out.Pretty = out.Pretty || pretty(r)
				return out, nil
			}
		}
	}
	return Output{}, notAcceptable(false)
}

// accept checks the parameters of a clause that names the media type.
func (e Endpoint) accept(m Media, params map[string]string) (Output, bool) {
	out := Output{Media: m}
	convert := false
	for k, v := range params {
		switch k {
		case "as":
			out.As.Kind, convert = v, true
		case "g":
			out.As.Group, convert = v, true
		case "v":
			out.As.Version, convert = v, true
		case "stream":
			if v != "" && (v != "watch" || m == YAML) {
				return out, false
			}
		case "sv":
			if v != "" {
				return out, false
			}
		case "pretty":
			out.Pretty = v == "1"
		}
	}
	if !convert {
		return out, m != Protobuf || !e.NoProtobuf
	}
	if out.As.Group != metav1.GroupName || (out.As.Version != "v1" && out.As.Version != "v1beta1") || !e.Shapes {
		return out, false
	}
	switch out.As.Kind {
	case "Table":
		out.Shape = Table
		return out, m != Protobuf
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		out.Shape = PartialMetadata
		return out, true
	}
	return out, false
}

// pretty: asked for, or read by a person's tool.
func pretty(r *http.Request) bool {
	if v := r.URL.Query().Get("pretty"); v != "" {
		p, err := strconv.ParseBool(v)
		return err == nil && p
	}
	return slices.ContainsFunc([]string{"curl", "Wget", "Mozilla/5.0"}, func(tool string) bool {
		return strings.HasPrefix(r.UserAgent(), tool)
	})
}

// Body tells the form of a request's body; none given is JSON.
func Body(r *http.Request) (Media, error) {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return JSON, nil
	}
	name, _, err := mime.ParseMediaType(header)
	if err == nil && slices.Contains(all, Media(name)) {
		return Media(name), nil
	}
	return "", Unsupported(names(false)...)
}

// clause is one alternative of an Accept header (RFC 9110, section 12.5.1).
type clause struct {
	kind, sub string
	quality   float64
	params    map[string]string
}

func (c clause) covers(m Media) bool {
	kind, sub, _ := strings.Cut(string(m), "/")
	return (c.kind == kind && c.sub == sub) || (c.kind == kind && c.sub == "*") || (c.kind == "*" && c.sub == "*")
}

// clauses splits the header, best first; of equals the first stays first.
func clauses(header string) []clause {
	var out []clause
	for _, part := range strings.Split(header, ",") {
		pieces := strings.Split(part, ";")
		kind, sub, _ := strings.Cut(strings.TrimSpace(pieces[0]), "/")
		if kind == "" {
			continue
		}
		c := clause{kind: kind, sub: sub, quality: 1, params: map[string]string{}}
		for _, p := range pieces[1:] {
			k, v, ok := strings.Cut(strings.TrimSpace(p), "=")
			if !ok {
				continue
			}
			if k == "q" {
				if q, err := strconv.ParseFloat(v, 64); err == nil {
					c.quality = q
				}
				continue
			}
			c.params[k] = v
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b clause) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return 0
	})
	return out
}

// NotShaped is the error for a shape that the answer can't be put into.
func NotShaped(text string) error {
	return &statusError{code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable, text: text}
}

// String names the media type as it is sent.
func (m Media) String() string { return string(m) }
