package review

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Version is what is judged, in the version that a rule names.
type Version struct {
	Resource *resource.Resource
	Kind     schema.GroupVersionKind
	// Object and Old have their kind and apiVersion set. They share what they hold with the object under review: replace
	// them, never change them. Nil where there is none.
	Object, Old runtime.Object
	changed     bool
}

// GVR of the version.
func (v *Version) GVR() schema.GroupVersionResource { return v.Resource.GVR() }

// Change replaces the object.
func (v *Version) Change(obj runtime.Object) { v.Object, v.changed = obj, true }

// Version gives what is judged in a version. It is made once; Forget drops what no longer holds.
func (s *Subject) Version(r *resource.Resource) (*Version, error) {
	if v := s.versions[r.GVR()]; v != nil {
		return v, nil
	}
	v := &Version{Resource: r, Kind: kindOf(r, s.Subresource)}
	var err error
	if v.Object, err = s.convert(s.object(), v); err != nil {
		return nil, err
	}
	if v.Old, err = s.convert(s.old(), v); err != nil {
		return nil, err
	}
	s.versions[r.GVR()] = v
	return v, nil
}

// convert makes an object in a version, with its kind set.
func (s *Subject) convert(obj runtime.Object, v *Version) (runtime.Object, error) {
	if obj == nil {
		return nil, nil
	}
	out := obj
	if s.Payload == nil && v.Resource != s.Resource {
		converted, err := between(obj.(resource.Object), s.Resource, v.Resource)
		if err != nil {
			return nil, err
		}
		out = converted
	}
	if u, ok := out.(*unstructured.Unstructured); ok {
		return u, nil // it says its kind itself
	}
	out = shallow(out)
	out.GetObjectKind().SetGroupVersionKind(v.Kind)
	return out, nil
}

// shallow copies an object's outermost struct.
func shallow(obj runtime.Object) runtime.Object {
	c := reflect.New(reflect.TypeOf(obj).Elem())
	c.Elem().Set(reflect.ValueOf(obj).Elem())
	return c.Interface().(runtime.Object)
}

// between converts an object from one served version to another, by way of the stored one.
func between(obj resource.Object, from, to *resource.Resource) (resource.Object, error) {
	obj = obj.DeepCopyObject().(resource.Object)
	var err error
	if from.ToStorage != nil {
		if obj, err = from.ToStorage(obj); err != nil {
			return nil, err
		}
	}
	if to.FromStorage != nil {
		return to.FromStorage(obj)
	}
	return obj, nil
}

// Accept puts the object of a version that was changed into the write. Other versions are made anew when asked for.
func (s *Subject) Accept(v *Version) error {
	if !v.changed {
		return nil
	}
	changed := v.Object
	if s.Payload == nil && v.Resource != s.Resource {
		converted, err := between(changed.(resource.Object), v.Resource, s.Resource)
		if err != nil {
			return fmt.Errorf("failed to convert object: %w", err)
		}
		changed = converted
	}
	into := s.object()
	if reflect.TypeOf(into) != reflect.TypeOf(changed) {
		return fmt.Errorf("failed to convert object: %T is no %T", changed, into)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(changed).Elem())
	if _, ok := into.(*unstructured.Unstructured); !ok {
		into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	v.changed = false
	for gvr, other := range s.versions {
		if other != v {
			delete(s.versions, gvr)
		}
	}
	return nil
}
