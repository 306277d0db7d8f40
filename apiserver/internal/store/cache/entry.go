package cache

import (
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// Codec reads the values of one collection.
type Codec interface {
	// Object decodes a stored value into a new object of the storage version, defaulted and with its resourceVersion.
	Object(raw []byte, revision int64) (runtime.Object, error)
	// Describe gives what selectors and indexes read of the object.
	Describe(obj runtime.Object) Description
}

// Description is what selectors and indexes read of an object.
type Description struct {
	Namespace, Name string
	Labels          labels.Set
	Fields          fields.Fields // all selectable fields, metadata.name and metadata.namespace among them
}

// selectable are an entry's selectable fields: a few, which are kept for every object, so a slice rather than a map.
type selectable []struct{ name, value string }

func (s selectable) Has(field string) bool {
	for i := range s {
		if s[i].name == field {
			return true
		}
	}
	return false
}

func (s selectable) Get(field string) string {
	for i := range s {
		if s[i].name == field {
			return s[i].value
		}
	}
	return ""
}

// compact gives fields the form in which they are kept.
func compact(f fields.Fields) fields.Fields {
	set, ok := f.(fields.Set)
	if !ok {
		return f
	}
	s := make(selectable, 0, len(set))
	for name, value := range set {
		s = append(s, struct{ name, value string }{name, value})
	}
	return s
}

// Slot names one of the encodings that an entry keeps once somebody asked for it.
type Slot int

// The slots of an entry.
const (
	SlotStorage  Slot = iota // JSON in the storage version
	SlotOther                // JSON in the other served version of a kind that has two
	SlotMetadata             // JSON of its metadata alone
	slots

	// SlotNone is no slot: what is asked for there is made each time.
	SlotNone Slot = -1
)

// Entry is an object at one revision. It never changes once published, but for its slots, which fill.
type Entry struct {
	Description
	Key      string
	Revision int64
	// Raw is the stored value: it has no resourceVersion.
	Raw []byte

	codec Codec
	json  [slots]atomic.Pointer[[]byte]
	// shared is what Shared gave, until it is forgotten for ever.
	shared    atomic.Pointer[runtime.Object]
	forgotten atomic.Bool
	// unreadable says why the value is no object; such an entry has nothing but its key and revision.
	unreadable error
}

// NewEntry describes an object about to be written; Revision is set when the write returned.
func NewEntry(codec Codec, key string, raw []byte, obj runtime.Object) *Entry {
	d := codec.Describe(obj)
	d.Fields = compact(d.Fields)
	return &Entry{Description: d, Key: key, Raw: raw, codec: codec}
}

// read makes the entry of a stored value that this process did not write, or takes the one that the store remembers.
func read(codec Codec, kv store.KV) (*Entry, error) {
	if e := remembered(codec, kv); e != nil {
		return e, nil
	}
	obj, err := codec.Object(kv.Value, kv.Revision)
	if err != nil {
		return nil, err
	}
	e := NewEntry(codec, kv.Key, kv.Value, obj)
	e.Revision = kv.Revision
	remember(kv, e)
	return e, nil
}

// readAny gives the entry of a value, or of one that can't be read.
func (c *Cache) readAny(codec Codec, kv store.KV) *Entry {
	e, err := read(codec, kv)
	if err == nil {
		return e
	}
	c.log.Error("unreadable object", "key", kv.Key, "revision", kv.Revision, "error", err)
	return &Entry{Key: kv.Key, Revision: kv.Revision, unreadable: err}
}

// remember has the store keep the entry of a value, so that a cache of a copy of the store need not decode it.
func remember(kv store.KV, e *Entry) {
	if kv.Made != nil {
		kv.Made.Store(e)
	}
}

// remembered is the entry of a value if one was made before, by this cache or by that of the store's origin.
func remembered(codec Codec, kv store.KV) *Entry {
	if kv.Made == nil {
		return nil
	}
	e, _ := kv.Made.Load().(*Entry)
	if e == nil || !alike(e.codec, codec) {
		return nil
	}
	if e.Revision == kv.Revision && e.codec == codec {
		return e
	}
	next := &Entry{Description: e.Description, Key: e.Key, Revision: kv.Revision, Raw: e.Raw, codec: codec}
	if e.Revision == kv.Revision {
		for i := range e.json {
			next.json[i].Store(e.json[i].Load())
		}
	}
	remember(kv, next)
	return next
}

// alike says whether two codecs read the same of every value.
func alike(a, b Codec) bool {
	if a == b {
		return true
	}
	kin, ok := a.(interface{ Alike(other Codec) bool })
	return ok && kin.Alike(b)
}

// ReadEntry makes the entry of a value read from etcd at an older revision.
func (c *Collection) ReadEntry(kv store.KV) (*Entry, error) { return read(c.codec, kv) }

// Object decodes the entry into an object of the storage version that the caller owns.
func (e *Entry) Object() (runtime.Object, error) { return e.codec.Object(e.Raw, e.Revision) }

// Shared is the object without its managedFields, decoded for the first who asks and the same for all: nobody may change it. The entry keeps
// it while it is the present one, since then those who asked keep it too, and a little longer for those who come late.
func (e *Entry) Shared() (runtime.Object, error) {
	if p := e.shared.Load(); p != nil {
		return *p, nil
	}
	obj, err := e.Object()
	if err != nil {
		return nil, err
	}
	if o, ok := obj.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	if e.forgotten.Load() {
		return obj, nil
	}
	if !e.shared.CompareAndSwap(nil, &obj) {
		if p := e.shared.Load(); p != nil {
			return *p, nil
		}
	}
	if e.forgotten.Load() {
		e.shared.Store(nil) // meanwhile
	}
	return obj, nil
}

// forget lets go of the shared object. Who comes later gets one of its own.
func (e *Entry) forget() {
	e.forgotten.Store(true)
	e.shared.Store(nil)
}

// JSON returns the encoding in the slot, made by encode at the first call. The bytes are shared: do not change them.
func (e *Entry) JSON(slot Slot, encode func(runtime.Object) ([]byte, error)) ([]byte, error) {
	if slot != SlotNone {
		if b := e.json[slot].Load(); b != nil {
			return *b, nil
		}
	}
	obj, err := e.Object()
	if err != nil {
		return nil, err
	}
	b, err := encode(obj)
	if err != nil {
		return nil, err
	}
	if slot != SlotNone {
		e.json[slot].Store(&b)
	}
	return b, nil
}

// Fill puts an encoding into a slot that the writer of the entry has at hand.
func (e *Entry) Fill(slot Slot, b []byte) { e.json[slot].Store(&b) }

// at is the same object at another revision: how a deletion shows it.
func (e *Entry) at(revision int64) *Entry {
	return &Entry{Description: e.Description, Key: e.Key, Revision: revision, Raw: e.Raw, codec: e.codec}
}
