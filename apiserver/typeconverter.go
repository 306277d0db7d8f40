package apiserver

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// types are all Go types that are served. The scheme is the process's own: what others add to client-go's is theirs.
var types = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(fmt.Sprintf("types do not fit together: %v", err))
		}
	}
	return s
})

type typeConverter = managedfields.TypeConverter

// structureOf is the schema of a kind that brings its own.
func structureOf(s *runtime.Scheme, structure string) typeConverter {
	return lazyTypes(func() typeConverter {
		parser, err := typed.NewParser(typed.YAMLObject(structure))
		if err != nil {
			panic(fmt.Sprintf("a kind's structure: %v", err)) // it is a constant
		}
		return managedfields.NewSchemeTypeConverter(s, parser)
	})
}

// lazy makes a schema when it is first needed, so that assembling a server does not wait for it.
type lazy struct{ get func() typeConverter }

func lazyTypes(make func() typeConverter) lazy { return lazy{sync.OnceValue(make)} }

func (l lazy) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return l.get().ObjectToTyped(o, opts...)
}

func (l lazy) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return l.get().TypedToObject(v)
}
