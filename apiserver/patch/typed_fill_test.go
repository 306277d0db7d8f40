package patch

import (
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// filler gives values anything, of few choices, so that keys meet.
type filler struct{ *rand.Rand }

func (f filler) all(object runtime.Object) {
	f.fill(reflect.ValueOf(object).Elem(), 0)
	object.(metav1.Object).SetManagedFields(nil)
}

// some changes parts.
func (f filler) some(object runtime.Object) {
	f.change(reflect.ValueOf(object).Elem(), 0)
	object.(metav1.Object).SetManagedFields(nil)
}

func (f filler) one(n int) bool { return f.IntN(n) == 0 }

func (f filler) text() string { return []string{"", "a", "b", "c", "d", "e", "f"}[f.IntN(7)] }

func (f filler) fill(v reflect.Value, depth int) {
	if f.leaf(v) || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.one(2))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.IntN(5)))
	case reflect.Struct:
		if shapeOf(v.Type()) == (foreign{}) {
			return
		}
		for i := range v.NumField() {
			if f.one(2) {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if shapeOf(v.Type().Elem()) != (foreign{}) && depth < 9 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(4), 4))
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(4) {
			key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(item, depth+1)
			v.SetMapIndex(key, item)
		}
	}
}

// leaf fills a value of a type that reads its own JSON.
func (f filler) leaf(v reflect.Value) bool {
	if leaves[v.Type()] == nil {
		return false
	}
	at := time.Unix(int64(f.IntN(9)), int64(f.IntN(2)*123456789))
	switch into := v.Addr().Interface().(type) {
	case *metav1.Time:
		into.Time = at
	case *metav1.MicroTime:
		into.Time = at
	case *resource.Quantity:
		*into = resource.MustParse([]string{"1", "0", "1500m", "2000", "1Gi", "1024", "0.1", "-3", "1e3", "12345678901234567890"}[f.IntN(10)])
		if f.one(4) {
			into.Add(resource.MustParse("1"))
		}
	case *intstr.IntOrString:
		if *into = intstr.FromInt32(int32(f.IntN(9))); f.one(2) {
			*into = intstr.FromString(f.text())
		}
	}
	return true
}

// change fills some of what is in a value anew, and mixes lists.
func (f filler) change(v reflect.Value, depth int) {
	switch {
	case !v.CanSet():
	case depth > 1 && f.one(6):
		v.SetZero()
		f.fill(v, depth)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		f.change(v.Elem(), depth)
	case v.Kind() == reflect.Struct && leaves[v.Type()] == nil:
		for i := range v.NumField() {
			if f.one(3) {
				f.change(v.Field(i), depth+1)
			}
		}
	case v.Kind() == reflect.Slice && v.Len() > 0:
		f.changeList(v, depth)
	}
}

func (f filler) changeList(v reflect.Value, depth int) {
	if f.one(2) {
		f.Shuffle(v.Len(), reflect.Swapper(v.Interface()))
	}
	if f.one(3) {
		v.Set(v.Slice(f.IntN(2), v.Len()))
	}
	if f.one(3) {
		item := reflect.New(v.Type().Elem()).Elem()
		f.fill(item, depth+1)
		v.Set(reflect.Append(v.Slice3(0, v.Len(), v.Len()), item))
	}
	for i := range v.Len() {
		f.change(v.Index(i), depth+1)
	}
}
