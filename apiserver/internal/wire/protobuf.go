package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// protobufMagic begins every protobuf object, on the wire and in the store.
var protobufMagic = []byte("k8s\x00")

// Field tags of the messages that are opened here: field number and wire type 2 (length-delimited).
const (
	tagObjectMeta      = 1<<3 | 2 // metadata, of every object
	tagResourceVersion = 6<<3 | 2 // of ObjectMeta
	tagListMeta        = 1<<3 | 2 // metadata, of every list
	tagItems           = 2<<3 | 2 // of every list
	tagUnknownTypeMeta = 1<<3 | 2
	tagUnknownRaw      = 2<<3 | 2
)

var errMalformed = errors.New("malformed protobuf")

// IsProtobuf says whether the stored value is protobuf rather than JSON.
func IsProtobuf(value []byte) bool { return bytes.HasPrefix(value, protobufMagic) }

// ProtobufBody returns the object's message inside a stored value's envelope.
func ProtobufBody(value []byte) ([]byte, error) {
	if !IsProtobuf(value) {
		return nil, fmt.Errorf("%w: no envelope", errMalformed)
	}
	rest := value[len(protobufMagic):]
	for len(rest) > 0 {
		tag, content, after, err := field(rest)
		if err != nil {
			return nil, err
		}
		if tag == tagUnknownRaw {
			return content, nil
		}
		rest = after
	}
	return nil, nil
}

// AppendWithRevision appends the object's message with the resourceVersion in place of an empty one.
func AppendWithRevision(dst, body []byte, revision int64) ([]byte, error) {
	tag, meta, rest, err := field(body)
	if err != nil || tag != tagObjectMeta {
		return nil, fmt.Errorf("%w: metadata is not first", errMalformed)
	}
	at := meta
	for len(at) > 0 && at[0] < tagResourceVersion {
		if _, _, at, err = field(at); err != nil {
			return nil, err
		}
	}
	before := meta[:len(meta)-len(at)]
	if len(at) > 0 && at[0] == tagResourceVersion {
		if _, _, at, err = field(at); err != nil {
			return nil, err
		}
	}
	var room [20]byte
	version := strconv.AppendInt(room[:0], revision, 10)
	dst = append(dst, tagObjectMeta)
	dst = binary.AppendUvarint(dst, uint64(len(before)+2+len(version)+len(at)))
	dst = append(dst, before...)
	dst = append(dst, tagResourceVersion, byte(len(version)))
	dst = append(dst, version...)
	dst = append(dst, at...)
	return append(dst, rest...), nil
}

// field splits off the first field of a message, which must be length-delimited: all fields that are
// walked over here are.
func field(b []byte) (tag byte, content, rest []byte, err error) {
	if len(b) < 2 || b[0]&7 != 2 || b[0] >= 0x80 {
		return 0, nil, nil, errMalformed
	}
	n, w := binary.Uvarint(b[1:])
	if w <= 0 || n > uint64(len(b)-1-w) {
		return 0, nil, nil, errMalformed
	}
	start := 1 + w
	end := start + int(n)
	return b[0], b[start:end], b[end:], nil
}

// Envelope puts a message into the form in which protobuf objects are stored and sent.
func Envelope(dst []byte, gvk schema.GroupVersionKind, body []byte) ([]byte, error) {
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}, Raw: body}
	b, err := u.Marshal()
	if err != nil {
		return nil, err
	}
	dst = append(dst, protobufMagic...)
	return append(dst, b...), nil
}

// AppendItem appends an object's message as an item of a list message.
func AppendItem(dst, item []byte) []byte {
	dst = append(dst, tagItems)
	dst = binary.AppendUvarint(dst, uint64(len(item)))
	return append(dst, item...)
}

// AppendListMeta appends a list's metadata message.
func AppendListMeta(dst, meta []byte) []byte {
	dst = append(dst, tagListMeta)
	dst = binary.AppendUvarint(dst, uint64(len(meta)))
	return append(dst, meta...)
}
