package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// gzipFrom is the size in bytes from which an answer is compressed for a client that accepts it.
const gzipFrom = 128 << 10

// NotFound answers for a path of a known group that no resource is at.
func NotFound(w http.ResponseWriter, r *http.Request) {
	Error(w, r, generic(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource"))
}

// NotAllowed answers a method that the path does not have.
func NotAllowed(w http.ResponseWriter, r *http.Request) {
	Error(w, r, generic(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource"))
}

// NotAcceptable answers a client that takes none of the media types.
func NotAcceptable(w http.ResponseWriter, r *http.Request) {
	Error(w, r, generic(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "406: Not Acceptable\n\nAvailable representations: "+negotiation.Available()))
}

// generic is an error that says nothing of any object.
func generic(code int32, reason metav1.StatusReason, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: text, Details: &metav1.StatusDetails{}}}
}

// fail answers with an error.
func (s *Scope) fail(w http.ResponseWriter, r *http.Request, err error) { Error(w, r, err) }

// Error answers with a metav1.Status in the form that the client accepts.
func Error(w http.ResponseWriter, r *http.Request, err error) {
	status := toStatus(err)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	out, negotiateErr := negotiation.Negotiate(r, negotiation.Endpoint{Shapes: true})
	if negotiateErr != nil {
		out = negotiation.Output{Media: negotiation.JSON}
	}
	writeMeta(w, r, int(status.Code), out, statusGVK, &status)
}

var statusGVK = schema.GroupVersionKind{Version: "v1", Kind: "Status"}

func toStatus(err error) metav1.Status {
	var known apierrors.APIStatus
	if errors.As(err, &known) {
		status := known.Status()
		if status.Status == "" {
			status.Status = metav1.StatusFailure
		}
		if status.Code == 0 {
			status.Code = http.StatusInternalServerError
		}
		return status
	}
	return metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
}

// writeMeta writes an object that no cache holds.
func writeMeta(w http.ResponseWriter, r *http.Request, code int, out negotiation.Output, gvk schema.GroupVersionKind, obj any) {
	body, err := encodeAs(out.Media, gvk, obj)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, r, code, out, body)
}

// encodeAs makes a whole object in JSON or protobuf; YAML and prettiness come last, in write.
func encodeAs(m negotiation.Media, gvk schema.GroupVersionKind, obj any) ([]byte, error) {
	if m == negotiation.Protobuf {
		p, ok := obj.(interface{ Marshal() ([]byte, error) })
		if !ok {
			return nil, fmt.Errorf("%s has no protobuf form", gvk.Kind)
		}
		b, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		return wire.Envelope(gvk, b), nil
	}
	body, err := wire.JSONBody(obj)
	if err != nil {
		return nil, err
	}
	if _, whole := obj.(runtime.Unstructured); whole {
		return append(body, '\n'), nil
	}
	return append(wire.AppendObject(nil, wire.Head(gvk), body), '\n'), nil
}

// head is what goes before an object's body: nothing where the body is the whole.
func (s *Scope) head() []byte {
	if s.Resource.Whole {
		return nil
	}
	return wire.Head(s.Resource.GVK())
}

// write sends an answer. The body is protobuf if that is the medium, else JSON.
func write(w http.ResponseWriter, r *http.Request, code int, out negotiation.Output, body []byte) {
	switch {
	case out.Media == negotiation.YAML:
		if b, err := yaml.JSONToYAML(body); err == nil {
			body = b
		}
	case out.Pretty && out.Media == negotiation.JSON:
		var b bytes.Buffer
		if err := json.Indent(&b, bytes.TrimSuffix(body, []byte{'\n'}), "", "  "); err == nil {
			body = b.Bytes()
		}
	}
	writeHead(w, r, out)
	if compressed(w, r, len(body)) {
		w.WriteHeader(code)
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		_, err := z.Write(body)
		if err == nil {
			_ = z.Close() // the client has gone; there is nobody to tell
		}
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // the client has gone; there is nobody to tell
}

// writeHead sets what stands before every answer, whatever its size.
func writeHead(w http.ResponseWriter, r *http.Request, out negotiation.Output) {
	addWarnings(w, request.Warnings(r.Context()))
	w.Header().Set("Content-Type", string(out.Media))
}

func addWarnings(w http.ResponseWriter, warnings []string) {
	for _, text := range warnings {
		w.Header().Add("Warning", warningHeader(text))
	}
}

// compressed says whether an answer of the size is to be compressed, and if so says it to the client.
func compressed(w http.ResponseWriter, r *http.Request, size int) bool {
	if size < gzipFrom || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Method != http.MethodGet || near(r) {
		return false
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	return true
}

// near says whether the client is on the same machine: compressing costs more there than it saves.
func near(r *http.Request) bool {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.Addr().IsLoopback()
}

// warningHeader formats a warning (RFC 7234, section 5.5).
func warningHeader(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, text)
	return `299 - ` + strconv.Quote(text)
}

// object answers with one object.
func (s *Scope) object(w http.ResponseWriter, r *http.Request, code int, out negotiation.Output, res *registry.Result) {
	var body []byte
	var err error
	switch out.Shape {
	case negotiation.Table:
		var obj resource.Object
		if obj, err = s.Registry.Object(res); err == nil {
			body, err = s.tableOf(r, out, obj)
		}
	case negotiation.PartialMetadata:
		body, err = s.partialOf(out, res)
	default:
		body, err = s.encodeObject(out.Media, res)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	write(w, r, code, out, body)
}

// encodeObject makes the whole of one object, from the cache's bytes where they are at hand.
func (s *Scope) encodeObject(m negotiation.Media, res *registry.Result) ([]byte, error) {
	if res.Entry == nil || (m == negotiation.Protobuf && (s.Resource.FromStorage != nil || s.Resource.Incomplete || s.Resource.Form != nil)) {
		obj, err := s.Registry.Object(res)
		if err != nil {
			return nil, err
		}
		return encodeAs(m, s.Resource.GVK(), obj)
	}
	if m == negotiation.Protobuf && wire.IsProtobuf(res.Entry.Raw) {
		body, err := wire.ProtobufBody(res.Entry.Raw)
		if err != nil {
			return nil, err
		}
		return s.protobufObject(body, res.Entry.Revision)
	}
	body, err := s.Registry.JSON(res.Entry)
	if err != nil {
		return nil, err
	}
	return append(wire.AppendObject(nil, s.head(), body), '\n'), nil
}

// protobufObject makes the whole of a stored message and its revision.
func (s *Scope) protobufObject(message []byte, revision int64) ([]byte, error) {
	size, err := wire.SizeWithRevision(message, revision)
	if err != nil {
		return nil, err
	}
	gvk := s.Resource.GVK()
	b := wire.EnvelopeHead(make([]byte, 0, wire.EnvelopeSize(gvk, size)), gvk, size)
	if b, err = wire.AppendWithRevision(b, message, revision); err != nil {
		return nil, err
	}
	return wire.EnvelopeTail(b), nil
}

// output negotiates for an endpoint that gives objects.
func (s *Scope) output(r *http.Request) (negotiation.Output, error) {
	return negotiation.Negotiate(r, negotiation.Endpoint{Shapes: true, NoProtobuf: s.Resource.Whole && s.gvk() == s.Resource.GVK()})
}

// Document answers with a discovery document.
func Document(w http.ResponseWriter, r *http.Request, gvk schema.GroupVersionKind, doc any) {
	out, err := negotiation.Negotiate(r, negotiation.Endpoint{})
	if err != nil {
		Error(w, r, err)
		return
	}
	writeMeta(w, r, http.StatusOK, out, gvk, doc)
}
