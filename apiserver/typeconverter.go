package apiserver

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

type typeConverter = managedfields.TypeConverter

// lazy makes the schema of all types when the first write needs it, so that starting does not pay for it.
type lazy struct{ get func() typeConverter }

func lazyTypes(make func() typeConverter) typeConverter { return lazy{sync.OnceValue(make)} }

func (l lazy) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return l.get().ObjectToTyped(o, opts...)
}

func (l lazy) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return l.get().TypedToObject(v)
}
