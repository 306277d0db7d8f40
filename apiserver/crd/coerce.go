package crd

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// coercion says how a tree is brought into the form that decoding into a Go type would give.
type coercion struct {
	// stored: malformed metadata is dropped rather than refused, and a missing generation is 1. What was stored once must stay readable.
	stored bool
	// unknown asks for the paths of fields that are dropped.
	unknown bool
}

// coerce drops what the schema of the object's version does not know, and nulls that it does not allow; metadata must be well formed.
func (d *definition) coerce(u *unstructured.Unstructured, c coercion) ([]string, error) {
	kind, hasKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, hasVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, err
	}
	meta, hasMeta, found, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{DropMalformedFields: c.stored, ReturnUnknownFieldPaths: c.unknown})
	if err != nil {
		return nil, err
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	if gv.Group == d.crd.Spec.Group && kind == d.crd.Status.AcceptedNames.Kind {
		more, err := d.prune(u, gv.Version, c)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
		if c.stored && meta.Generation == 0 {
			meta.Generation = 1
		}
	}
	// The schema need not speak of these; they were dropped with the rest.
	if hasKind {
		u.SetKind(kind)
	}
	if hasVersion {
		u.SetAPIVersion(apiVersion)
	}
	if hasMeta {
		return found, objectmeta.SetObjectMeta(u.Object, meta)
	}
	return found, nil
}

// prune applies the schema of a version.
func (d *definition) prune(u *unstructured.Unstructured, name string, c coercion) ([]string, error) {
	s, err := d.schemaOf(name)
	if err != nil {
		return nil, err
	}
	var found []string
	if !d.crd.Spec.PreserveUnknownFields {
		found = pruning.PruneWithOptions(u.Object, s, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: c.unknown})
		defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s)
	}
	bad, paths := objectmeta.CoerceWithOptions(nil, u.Object, s, false, objectmeta.CoerceOptions{DropInvalidFields: c.stored, ReturnUnknownFieldPaths: c.unknown})
	if bad != nil {
		return nil, bad
	}
	return append(found, paths...), nil
}

// schemaOf is the structural schema of a version; nil if there is no such version or schema.
func (d *definition) schemaOf(name string) (*structuralschema.Structural, error) {
	v := d.versions[name]
	if v == nil {
		return nil, nil
	}
	return v.structural()
}

// setDefaults sets what the schema of the object's version defaults.
func (d *definition) setDefaults(u *unstructured.Unstructured) {
	gvk := u.GroupVersionKind()
	if gvk.Group != d.crd.Spec.Group || gvk.Kind != d.crd.Status.AcceptedNames.Kind {
		return
	}
	// A schema that can't be read is told by coerce, which always comes first.
	if s, err := d.schemaOf(gvk.Version); err == nil && s != nil {
		defaulting.Default(u.Object, s)
	}
}
