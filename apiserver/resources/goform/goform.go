package goform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/diff"
)

// Value is a value whose JSON has Go's field names. Pass it to field.Invalid and its like.
type Value struct{ of any }

// Of wraps a value, a struct of k8s.io/api or a pointer, list or map of such.
func Of(v any) Value { return Value{of: v} }

// Diff tells how two values differ, line by line.
func Diff(was, now any) string { return diff.Diff(Of(was), Of(now)) }

// external are the fields that only the API's types have, not those that rules are checked on.
var external = map[string]string{"NodeSpec": "PodCIDR", "Secret": "StringData"}

// MarshalJSON gives the value with Go's field names.
func (v Value) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b, reflect.ValueOf(v.of)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, v reflect.Value) error {
	if !v.IsValid() {
		b.WriteString("null")
		return nil
	}
	switch kind := v.Kind(); {
	case kind == reflect.Pointer || kind == reflect.Interface:
		return write(b, v.Elem())
	case kind == reflect.Struct && isAPI(v.Type()):
		b.WriteByte('{')
		if err := writeFields(b, v); err != nil {
			return err
		}
		b.WriteByte('}')
		return nil
	case kind == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 && !v.IsNil():
		return writeList(b, v)
	case kind == reflect.Map && !v.IsNil():
		return writeMap(b, v)
	}
	return writePlain(b, v)
}

// isAPI tells the types that upstream has twice. Those of the machinery (quantities, times, selectors) it has once, with names for JSON.
func isAPI(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") }

func writePlain(b *bytes.Buffer, v reflect.Value) error {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Errorf("show a %s: %w", v.Type(), err)
	}
	b.Write(text)
	return nil
}

// writeFields writes a struct's fields; those of an embedded struct stand among them.
func writeFields(b *bytes.Buffer, v reflect.Value) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if external[t.Name()] == f.Name {
			continue
		}
		if f.Anonymous && isAPI(f.Type) {
			if err := writeFields(b, v.Field(i)); err != nil {
				return err
			}
			continue
		}
		if b.Bytes()[b.Len()-1] != '{' {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "%q:", f.Name)
		if err := write(b, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func writeList(b *bytes.Buffer, v reflect.Value) error {
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(b, v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeMap(b *bytes.Buffer, v reflect.Value) error {
	by := map[string]reflect.Value{}
	for _, k := range v.MapKeys() {
		by[k.String()] = v.MapIndex(k)
	}
	b.WriteByte('{')
	for i, k := range slices.Sorted(maps.Keys(by)) {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writePlain(b, reflect.ValueOf(k)); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := write(b, by[k]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}
