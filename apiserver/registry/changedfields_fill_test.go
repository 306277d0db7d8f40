package registry

import (
	"reflect"

	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// changer changes filled objects here and there.
type changer struct {
	filler
	rate byte // how many of 256 values change
}

func (c *changer) change(v reflect.Value) {
	if c.next() < c.rate {
		v.SetZero()
		c.left += 8
		c.fill(v)
		return
	}
	if v.CanAddr() {
		switch v.Addr().Interface().(type) {
		case *metav1.Time, *metav1.MicroTime, *quantity.Quantity, *intstr.IntOrString, *runtime.RawExtension, *[]metav1.ManagedFieldsEntry:
			return // all of it changes or nothing
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.change(v.Field(i))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.change(v.Elem())
		}
	case reflect.Slice:
		c.slice(v)
	case reflect.Map:
		c.entries(v)
	}
}

// slice changes items, adds one, takes one away, or puts them in another order.
func (c *changer) slice(v reflect.Value) {
	for i := range v.Len() {
		c.change(v.Index(i))
	}
	if v.Len() == 0 || c.next() >= c.rate {
		return
	}
	switch c.next() % 4 {
	case 0:
		item := reflect.New(v.Type().Elem()).Elem()
		c.left += 8
		c.fill(item)
		v.Set(reflect.Append(v, item))
	case 1:
		v.SetLen(v.Len() - 1)
	case 2:
		v.Set(v.Slice(1, v.Len()))
	default:
		reflect.Swapper(v.Interface())(0, v.Len()-1)
	}
}

// entries changes those of a map, and takes some away or adds others.
func (c *changer) entries(v reflect.Value) {
	for _, k := range v.MapKeys() {
		item := reflect.New(v.Type().Elem()).Elem()
		item.Set(v.MapIndex(k))
		c.change(item)
		v.SetMapIndex(k, item)
		if c.next() < c.rate {
			v.SetMapIndex(k, reflect.Value{})
		}
	}
	if !v.IsNil() && c.next() < c.rate {
		key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.SetString(c.text())
		c.left += 8
		c.fill(item)
		v.SetMapIndex(key, item)
	}
}

// changed makes an object of another, which it changes.
func changed(obj resource.Object, next func() byte) resource.Object {
	obj = obj.DeepCopyObject().(resource.Object)
	managers := obj.GetManagedFields()
	uid := obj.GetUID()
	c := &changer{filler: filler{next: next, dense: next() / 2}, rate: next() / 16}
	c.change(reflect.ValueOf(obj).Elem())
	obj.SetManagedFields(managers)
	obj.SetUID(uid)
	resource.Untype(obj)
	return obj
}
