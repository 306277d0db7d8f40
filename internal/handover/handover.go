package handover

import (
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/watch"
)

// Header of a watch asks for objects instead of their bytes. A server that hands nothing over need not know it.
const Header = "Kogge-Hand-Over"

// Transport is one whose server runs in the process and hands objects over.
type Transport interface {
	http.RoundTripper
	// HandsOver does nothing: to have it is to be such a transport.
	HandsOver()
}

// Stream is the body of an answer that hands objects over.
type Stream interface {
	io.ReadCloser
	// Events is closed at the watch's end. The objects are shared: nobody changes them.
	Events() <-chan watch.Event
}

// Sender is the server's side of a Stream: what its handler writes to.
type Sender interface {
	http.ResponseWriter
	// HandOver is called before the header is written: the body will be a Stream. Else it is one of bytes.
	HandOver()
	// Send returns once the event waits to be read. Its error says that nobody reads any more.
	Send(watch.Event) error
}

// SenderOf finds what hands over the answer to a request, below all that wraps its writer; nil: the request does not ask for it, or its
// transport can't.
func SenderOf(w http.ResponseWriter, r *http.Request) Sender {
	if r.Header.Get(Header) == "" {
		return nil
	}
	for {
		if s, ok := w.(Sender); ok {
			return s
		}
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = outer.Unwrap()
	}
}
