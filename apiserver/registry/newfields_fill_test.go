package registry

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"

	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler fills objects with what comes out of bytes. When there are no more, all is zero.
type filler struct {
	next  func() byte
	left  int // values that are still to be there
	depth int
	// dense: how many of 256 optional values are there.
	dense byte
}

// from takes the bytes of a slice.
func from(data []byte) func() byte {
	return func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
}

// An object has so many pointers, lists and maps at most, and goes on below so many.
const (
	maxValues = 400
	maxDepth  = 12
)

func (f *filler) some() bool {
	if f.left == 0 || f.depth >= maxDepth || f.next() >= f.dense {
		return false
	}
	f.left--
	return true
}

// length is that of a list or a map; -1: it is nil.
func (f *filler) length() int {
	if !f.some() {
		return -1 + int(f.next()%16/15)
	}
	return 1 + int(f.next()%3)
}

// odd are texts that JSON escapes, or that look as if it did.
var odd = []string{"", "a\"b", `a\b`, "<&>", "é", "\u2028", "\x00\n\t", "\x7f", "\xff", "a/b~c.d", `{"a":1}`, "f:a", "."}

func (f *filler) text() string {
	switch b := f.next(); {
	case b < 32:
		return ""
	case b == 255:
		return odd[int(f.next())%len(odd)]
	default:
		return fmt.Sprintf("%c%d", 'a'+b%26, f.next())
	}
}

func (f *filler) number() int64 {
	switch b := f.next(); {
	case b < 32:
		return 0
	case b < 240:
		return int64(b)
	default:
		var wide [8]byte
		for i := range wide {
			wide[i] = f.next()
		}
		return int64(binary.LittleEndian.Uint64(wide[:]))
	}
}

func (f *filler) time() time.Time {
	if f.next() < 64 {
		return time.Time{}
	}
	return time.Unix(1<<20*int64(f.next()), 1000*int64(f.next()))
}

// extensions are what a RawExtension may have.
var extensions = []string{"", "null", "{}", `{"a":{"b":[1,"x",null]}}`, "[]", `["a"]`, "5", "1.5", `"x"`, "true"}

// special fills types whose JSON is their own. False: it is not one.
func (f *filler) special(at any) bool {
	switch p := at.(type) {
	case *metav1.Time:
		p.Time = f.time()
	case *metav1.MicroTime:
		p.Time = f.time()
	case *quantity.Quantity:
		if n := f.number() % 1e6; n != 0 {
			*p = *quantity.NewMilliQuantity(n, quantity.DecimalSI)
		}
	case *intstr.IntOrString:
		if f.next()%2 == 0 {
			*p = intstr.FromString(f.text())
		} else {
			*p = intstr.FromInt32(int32(f.number()))
		}
	case *runtime.RawExtension:
		if f.some() {
			p.Raw = []byte(extensions[int(f.next())%len(extensions)])
		}
	case *metav1.FieldsV1:
		p.SetRawString("{}")
	default:
		return false
	}
	return true
}

func (f *filler) fill(v reflect.Value) {
	if v.CanAddr() && f.special(v.Addr().Interface()) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		if f.some() {
			v.Set(reflect.New(v.Type().Elem()))
			f.deeper(v.Elem())
		}
	case reflect.Slice:
		if n := f.length(); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				f.deeper(v.Index(i))
			}
		}
	case reflect.Map:
		if n := f.length(); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				key.SetString(f.text())
				f.deeper(item)
				v.SetMapIndex(key, item)
			}
		}
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.next()%2 == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.number())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(f.number()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.number()) / 2)
	}
}

func (f *filler) deeper(v reflect.Value) {
	f.depth++
	f.fill(v)
	f.depth--
}
