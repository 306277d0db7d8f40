package registry

import (
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/internal/wire"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// protobufObject is what the generated API types are.
type protobufObject interface {
	Size() int
	MarshalToSizedBuffer(to []byte) (int, error)
	Unmarshal([]byte) error
}

// Codec reads and writes the stored form of one resource's objects. It is the cache's codec too.
type Codec struct{ r *resource.Resource }

// NewCodec makes the codec of a resource that is stored as it is served.
func NewCodec(r *resource.Resource) Codec { return Codec{r} }

// Alike says whether another codec reads the same of every value: that of another server, of a resource with the same definition.
func (c Codec) Alike(other cache.Codec) bool {
	o, ok := other.(Codec)
	if !ok || c.r.Fingerprint == nil || o.r.Fingerprint == nil {
		return false
	}
	return c.r.Prefix == o.r.Prefix && c.r.Fingerprint() == o.r.Fingerprint()
}

// Object decodes a stored value into a new object, defaulted and with its resourceVersion.
func (c Codec) Object(raw []byte, revision int64) (runtime.Object, error) {
	obj, err := c.unmarshal(raw)
	if err != nil {
		return nil, fmt.Errorf("decode stored %s: %w", c.r.Kind, err)
	}
	resource.Untype(obj)
	obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	c.Default(obj)
	return obj, nil
}

func (c Codec) unmarshal(raw []byte) (resource.Object, error) {
	if c.r.Form != nil {
		return c.r.Form.Unmarshal(raw)
	}
	obj := c.r.New()
	if !wire.IsProtobuf(raw) {
		return obj, json.Unmarshal(raw, obj)
	}
	body, err := wire.ProtobufBody(raw)
	if err != nil {
		return nil, err
	}
	return obj, obj.(protobufObject).Unmarshal(body)
}

// Default sets what a stored object leaves out, as decoding it does.
func (c Codec) Default(obj resource.Object) {
	if c.r.Default != nil {
		c.r.Default(obj)
	}
}

// Describe gives what selectors read.
func (c Codec) Describe(obj runtime.Object) cache.Description {
	o := obj.(resource.Object)
	return cache.Description{Namespace: o.GetNamespace(), Name: o.GetName(), Labels: labels.Set(o.GetLabels()), Fields: c.r.SelectableFields(o)}
}

// Encode makes the stored value of an object: protobuf unless the kind has another form, without a resourceVersion.
func (c Codec) Encode(obj resource.Object) ([]byte, error) {
	version := obj.GetResourceVersion()
	obj.SetResourceVersion("")
	defer obj.SetResourceVersion(version)
	if c.r.Form != nil {
		return c.r.Form.Marshal(obj)
	}
	message := obj.(protobufObject)
	size := message.Size()
	raw := wire.EnvelopeHead(make([]byte, 0, wire.EnvelopeSize(c.r.Storage, size)), c.r.Storage, size)
	at := len(raw)
	raw = raw[:at+size]
	switch n, err := message.MarshalToSizedBuffer(raw[at:]); {
	case err != nil:
		return nil, fmt.Errorf("encode %s: %w", c.r.Kind, err)
	case n != size:
		return nil, fmt.Errorf("encode %s: %d bytes instead of %d", c.r.Kind, n, size)
	}
	return wire.EnvelopeTail(raw), nil
}
