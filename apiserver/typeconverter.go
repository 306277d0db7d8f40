package apiserver

import (
	"fmt"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kogge-dev/kogge/apiserver/schemas"
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

// builtinTypes are the schemas of the kinds that client-go knows. All servers of a process share them.
var builtinTypes = lazyTypes(func() typeConverter {
	parser, err := schemas.Parser()
	if err != nil {
		panic(fmt.Sprintf("the embedded schemas: %v", err)) // they are a constant
	}
	return &trusting{typeConverter: managedfields.NewSchemeTypeConverter(scheme.Scheme, parser)}
})

// trusting doesn't check what can't be wrong: an object of a Go type has the form of its schema. Only an apply's configuration, in
// which duplicates are an error, is looked at.
type trusting struct {
	typeConverter
	known sync.Map // of a GroupVersionKind: an empty *typed.TypedValue, which has its schema
}

// ObjectToTyped looks for duplicates unless they are allowed.
func (t *trusting) ObjectToTyped(o runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if _, tree := o.(runtime.Unstructured); tree || !slices.Contains(opts, typed.AllowDuplicates) {
		return t.typeConverter.ObjectToTyped(o, opts...)
	}
	gvk := o.GetObjectKind().GroupVersionKind()
	known, ok := t.known.Load(gvk)
	if !ok {
		whole, err := t.typeConverter.ObjectToTyped(o, opts...)
		if err != nil {
			return nil, err
		}
		t.known.Store(gvk, whole.Empty())
		return whole, nil
	}
	v, err := value.NewValueReflect(o)
	if err != nil {
		return nil, err
	}
	of := known.(*typed.TypedValue)
	return typed.AsTypedUnvalidated(v, of.Schema(), of.TypeRef()), nil
}

// structures are the schemas of kinds that bring their own, by what they say.
var structures sync.Map

// structureOf is the schema of a kind that brings its own.
func structureOf(s *runtime.Scheme, structure string) typeConverter {
	made := lazyTypes(func() typeConverter {
		parser, err := typed.NewParser(typed.YAMLObject(structure))
		if err != nil {
			panic(fmt.Sprintf("a kind's structure: %v", err)) // it is a constant
		}
		return managedfields.NewSchemeTypeConverter(s, parser)
	})
	shared, _ := structures.LoadOrStore(structure, made)
	return shared.(lazy)
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
