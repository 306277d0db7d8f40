package patch

import (
	"bytes"
	"encoding/base64"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// leaves are the types that write and read their own JSON in ways that are known here.
var leaves = map[reflect.Type]shape{
	reflect.TypeFor[metav1.Time]():        moment{layout: time.RFC3339, unit: time.Second},
	reflect.TypeFor[metav1.MicroTime]():   moment{layout: metav1.RFC3339Micro, unit: time.Microsecond},
	reflect.TypeFor[resource.Quantity]():  quantity{},
	reflect.TypeFor[intstr.IntOrString](): intOrString{},
}

// isLeaf says whether a shape's values are no maps and no lists in a tree, so that a merge replaces them.
func isLeaf(s shape) bool {
	switch s.(type) {
	case scalar, octets, moment, quantity, intOrString:
		return true
	}
	return false
}

// scalar are texts, truths and numbers. Fractions are copied, but not read.
type scalar struct{}

func (scalar) flat() bool             { return true }
func (scalar) own(reflect.Value) bool { return true }

func (scalar) read(v reflect.Value, from any) bool {
	switch from := from.(type) {
	case string:
		if v.Kind() != reflect.String {
			return false
		}
		v.SetString(from)
	case bool:
		if v.Kind() != reflect.Bool {
			return false
		}
		v.SetBool(from)
	case int64:
		return setNumber(v, from)
	default:
		return false
	}
	return true
}

func (s scalar) merge(v reflect.Value, change any) bool { return s.read(v, change) }

// setNumber sets a number that the value's type has room for. Trees cut it to size.
func setNumber(v reflect.Value, n int64) bool {
	switch {
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	default:
		return false
	}
	return true
}

// octets are texts in base64.
type octets struct{}

func (octets) flat() bool { return false }

func (octets) own(v reflect.Value) bool {
	v.SetBytes(bytes.Clone(v.Bytes()))
	return true
}

func (octets) read(v reflect.Value, from any) bool {
	text, is := from.(string)
	if !is {
		return false
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	v.SetBytes(data)
	return true
}

func (o octets) merge(v reflect.Value, change any) bool { return o.read(v, change) }

// moment is a metav1.Time or metav1.MicroTime: a struct around a time alone, of which a tree knows no more than the unit.
type moment struct {
	layout string
	unit   time.Duration
}

func (moment) flat() bool { return false }

func (moment) time(v reflect.Value) *time.Time {
	return v.Field(0).Addr().Interface().(*time.Time)
}

func (m moment) own(v reflect.Value) bool {
	t := m.time(v)
	if t.IsZero() {
		*t = time.Time{}
		return true
	}
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return false // is written, but not read
	}
	*t = time.Unix(t.Unix(), int64(time.Duration(t.Nanosecond()).Truncate(m.unit)))
	return true
}

func (m moment) read(v reflect.Value, from any) bool {
	text, is := from.(string)
	if !is {
		return false
	}
	parsed, err := time.Parse(m.layout, text)
	if err != nil {
		return false
	}
	*m.time(v) = parsed.Local()
	return true
}

func (m moment) merge(v reflect.Value, change any) bool { return m.read(v, change) }

// quantity is a resource.Quantity.
type quantity struct{}

func (quantity) flat() bool { return false }

func (q quantity) own(v reflect.Value) bool {
	now := *v.Addr().Interface().(*resource.Quantity)
	return q.read(v, now.String())
}

func (quantity) read(v reflect.Value, from any) bool {
	var text string
	switch from := from.(type) {
	case string:
		text = from
	case int64:
		text = strconv.FormatInt(from, 10)
	}
	if strings.TrimLeft(text, "0123456789.+-eEinumkKMGTP") != "" {
		return false // it may be trimmed, or be escaped in JSON
	}
	parsed, err := resource.ParseQuantity(text)
	if err != nil {
		return false
	}
	*v.Addr().Interface().(*resource.Quantity) = parsed
	return true
}

func (q quantity) merge(v reflect.Value, change any) bool { return q.read(v, change) }

// intOrString is an intstr.IntOrString.
type intOrString struct{}

func (intOrString) flat() bool { return false }

func (intOrString) own(v reflect.Value) bool {
	now := v.Addr().Interface().(*intstr.IntOrString)
	switch now.Type {
	case intstr.Int:
		now.StrVal = ""
	case intstr.String:
		now.IntVal = 0
		return utf8.ValidString(now.StrVal)
	default:
		return false
	}
	return true
}

func (intOrString) read(v reflect.Value, from any) bool {
	into := v.Addr().Interface().(*intstr.IntOrString)
	switch from := from.(type) {
	case string:
		*into = intstr.FromString(from)
	case int64:
		if from < math.MinInt32 || from > math.MaxInt32 {
			return false
		}
		*into = intstr.FromInt32(int32(from))
	default:
		return false
	}
	return true
}

func (i intOrString) merge(v reflect.Value, change any) bool { return i.read(v, change) }
