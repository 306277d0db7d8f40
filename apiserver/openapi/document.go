package openapi

import (
	"bytes"
	"crypto/sha512"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"
)

// document is a finished document; its further forms are made when they are first asked for.
type document struct {
	json []byte
	hash string
	gzip func() []byte
	pb   func() ([]byte, error)
}

// newDocument makes a document of its JSON; parse gives it as a protobuf message.
func newDocument(body []byte, parse func([]byte) (proto.Message, error)) *document {
	return &document{
		json: body, hash: fmt.Sprintf("%X", sha512.Sum512(body)),
		gzip: sync.OnceValue(func() []byte { return compress(body) }),
		pb: sync.OnceValues(func() ([]byte, error) {
			message, err := parse(body)
			if err != nil {
				return nil, err
			}
			return proto.Marshal(message)
		}),
	}
}

// unpack gives what was embedded.
func unpack(packed []byte) []byte {
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err) // the options are valid
	}
	defer z.Close()
	raw, err := io.ReadAll(z)
	if err != nil {
		panic(fmt.Sprintf("embedded OpenAPI documents: %v", err))
	}
	return raw
}

func compress(b []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed) // the level is valid
	_, _ = z.Write(b)                                 // a buffer takes everything
	_ = z.Close()
	return buf.Bytes()
}
