package handlers

import (
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
)

// pieceSize is from how many bytes on what was gathered of a list is written: large enough that the cost of a write
// doesn't count, small beside a list.
const pieceSize = 128 << 10

// listBody is a list's bytes, put together only while they are written: a list of everything is as large as all
// objects, which are in memory already.
type listBody struct {
	head, tail []byte
	items      int
	size       int // of the whole, in bytes
	// item appends an item, and what stands between it and the one before.
	item func(dst []byte, i int) ([]byte, error)
}

func jsonList(head []byte, items [][]byte, tail []byte) *listBody {
	size := len(head) + len(tail) + max(len(items)-1, 0)
	for _, item := range items {
		size += len(item)
	}
	return &listBody{head: head, tail: tail, items: len(items), size: size, item: func(dst []byte, i int) ([]byte, error) {
		if i > 0 {
			dst = append(dst, ',')
		}
		return append(dst, items[i]...), nil
	}}
}

var pieces = sync.Pool{New: func() any {
	b := make([]byte, 0, pieceSize+pieceSize/4)
	return &b
}}

// writeTo writes the whole in pieces.
func (l *listBody) writeTo(w io.Writer) error {
	held := pieces.Get().(*[]byte)
	b := append((*held)[:0], l.head...)
	defer func() {
		if cap(b) <= 2*pieceSize {
			*held = b
			pieces.Put(held)
		}
	}()
	var err error
	for i := range l.items {
		if b, err = l.item(b, i); err != nil {
			return err
		}
		if len(b) < pieceSize {
			continue
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	b = append(b, l.tail...)
	_, err = w.Write(b)
	return err
}

// bytes gives the whole at once.
func (l *listBody) bytes() ([]byte, error) {
	b := append(make([]byte, 0, l.size), l.head...)
	var err error
	for i := range l.items {
		if b, err = l.item(b, i); err != nil {
			return nil, err
		}
	}
	return append(b, l.tail...), nil
}

// writeList sends a list.
func writeList(w http.ResponseWriter, r *http.Request, out negotiation.Output, l *listBody) {
	if out.Media == negotiation.YAML || out.Pretty {
		body, err := l.bytes()
		if err != nil {
			Error(w, r, err)
			return
		}
		write(w, r, http.StatusOK, out, body)
		return
	}
	writeHead(w, r, out)
	if compressed(w, r, l.size) {
		w.WriteHeader(http.StatusOK)
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		if l.writeTo(z) == nil {
			_ = z.Close() // the client has gone; there is nobody to tell
		}
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(l.size))
	w.WriteHeader(http.StatusOK)
	_ = l.writeTo(w) // the client has gone; there is nobody to tell
}
