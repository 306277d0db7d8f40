package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

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
	tagContentEncoding = 3<<3 | 2
	tagContentType     = 4<<3 | 2
	tagAPIVersion      = 1<<3 | 2 // of TypeMeta
	tagKind            = 2<<3 | 2
	tagEventType       = 1<<3 | 2 // of WatchEvent
	tagEventObject     = 2<<3 | 2
	tagExtensionRaw    = 1<<3 | 2 // of RawExtension
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
	s, err := splitAtRevision(body)
	if err != nil {
		return nil, err
	}
	var room [20]byte
	version := strconv.AppendInt(room[:0], revision, 10)
	dst = append(dst, tagObjectMeta)
	dst = binary.AppendUvarint(dst, uint64(len(s.before)+2+len(version)+len(s.after)))
	dst = append(dst, s.before...)
	dst = append(dst, tagResourceVersion, byte(len(version)))
	dst = append(dst, version...)
	dst = append(dst, s.after...)
	return append(dst, s.rest...), nil
}

// SizeWithRevision is how many bytes AppendWithRevision appends.
func SizeWithRevision(body []byte, revision int64) (int, error) {
	s, err := splitAtRevision(body)
	if err != nil {
		return 0, err
	}
	var room [20]byte
	meta := len(s.before) + 2 + len(strconv.AppendInt(room[:0], revision, 10)) + len(s.after)
	return 1 + uvarintSize(meta) + meta + len(s.rest), nil
}

// revisionSplit is an object's message around the place of its resourceVersion: before and after it in the
// metadata, and what follows the metadata.
type revisionSplit struct{ before, after, rest []byte }

func splitAtRevision(body []byte) (revisionSplit, error) {
	tag, meta, rest, err := field(body)
	if err != nil || tag != tagObjectMeta {
		return revisionSplit{}, fmt.Errorf("%w: metadata is not first", errMalformed)
	}
	at := meta
	for len(at) > 0 && at[0] < tagResourceVersion {
		if _, _, at, err = field(at); err != nil {
			return revisionSplit{}, err
		}
	}
	before := meta[:len(meta)-len(at)]
	if len(at) > 0 && at[0] == tagResourceVersion {
		if _, _, at, err = field(at); err != nil {
			return revisionSplit{}, err
		}
	}
	return revisionSplit{before: before, after: at, rest: rest}, nil
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
func Envelope(gvk schema.GroupVersionKind, body []byte) []byte {
	dst := EnvelopeHead(make([]byte, 0, EnvelopeSize(gvk, len(body))), gvk, len(body))
	return EnvelopeTail(append(dst, body...))
}

// EnvelopeSize is how many bytes a message of the size takes with its envelope.
func EnvelopeSize(gvk schema.GroupVersionKind, size int) int {
	version, kind := gvk.ToAPIVersionAndKind()
	names := stringSize(len(version)) + stringSize(len(kind))
	return len(protobufMagic) + stringSize(names) + stringSize(size) + len(EnvelopeTail(nil))
}

// EnvelopeHead appends what stands before a message of the size, given in bytes. What stands behind is EnvelopeTail's.
func EnvelopeHead(dst []byte, gvk schema.GroupVersionKind, size int) []byte {
	version, kind := gvk.ToAPIVersionAndKind()
	dst = append(dst, protobufMagic...)
	dst = append(dst, tagUnknownTypeMeta)
	dst = binary.AppendUvarint(dst, uint64(stringSize(len(version))+stringSize(len(kind))))
	dst = appendString(dst, tagAPIVersion, version)
	dst = appendString(dst, tagKind, kind)
	dst = append(dst, tagUnknownRaw)
	return binary.AppendUvarint(dst, uint64(size))
}

// EnvelopeTail appends the encoding and the type of the content, both empty.
func EnvelopeTail(dst []byte) []byte {
	return append(dst, tagContentEncoding, 0, tagContentType, 0)
}

func appendString(dst []byte, tag byte, s string) []byte {
	dst = append(dst, tag)
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// stringSize is how many bytes a string or message of the size takes with its tag and length.
func stringSize(size int) int { return 1 + uvarintSize(size) + size }

func uvarintSize(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// ItemSize is how many bytes an item of a list message takes whose own message has the size.
func ItemSize(size int) int { return stringSize(size) }

// AppendItemHead appends what stands before an item's message of the size, given in bytes.
func AppendItemHead(dst []byte, size int) []byte {
	return binary.AppendUvarint(append(dst, tagItems), uint64(size))
}

// AppendListMeta appends a list's metadata message.
func AppendListMeta(dst, meta []byte) []byte {
	dst = append(dst, tagListMeta)
	dst = binary.AppendUvarint(dst, uint64(len(meta)))
	return append(dst, meta...)
}

// AppendEvent appends a frame of a watch: the length of an event's message in four bytes, and the message around
// an object in its envelope.
func AppendEvent(dst []byte, kind string, object []byte) []byte {
	extension := stringSize(len(object))
	dst = binary.BigEndian.AppendUint32(dst, uint32(stringSize(len(kind))+stringSize(extension)))
	dst = appendString(dst, tagEventType, kind)
	dst = append(dst, tagEventObject)
	dst = binary.AppendUvarint(dst, uint64(extension))
	dst = append(dst, tagExtensionRaw)
	dst = binary.AppendUvarint(dst, uint64(len(object)))
	return append(dst, object...)
}
