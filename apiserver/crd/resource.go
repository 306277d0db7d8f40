package crd

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	kubeversion "k8s.io/apimachinery/pkg/version"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Verbs in the order in which discovery lists a custom resource's, while its definition lives and when it ends.
var (
	allVerbs    = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	endingVerbs = []string{"delete", "deletecollection", "get", "list", "watch"}
)

// resource makes the catalogue's value of a version.
func (v *version) resource(verbs []string) *resource.Resource {
	names := v.crd.Status.AcceptedNames
	r := &resource.Resource{
		Name: resource.Name{Group: v.gvk.Group, Version: v.gvk.Version, Kind: names.Kind, Plural: names.Plural, Singular: names.Singular,
			Short: names.ShortNames, Categories: names.Categories, Namespaced: v.namespaced()},
		ListKind: names.ListKind, Whole: true, Verbs: verbs,
		New: func() resource.Object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(v.gvk)
			return u
		},
		NewList:     func() runtime.Object { return &unstructured.UnstructuredList{} },
		Prefix:      v.prefix(),
		Storage:     v.stored.gvk,
		Form:        &resource.Form{Marshal: marshal, Unmarshal: v.unmarshal},
		FromStorage: func(o resource.Object) (resource.Object, error) { return v.to(o.(*unstructured.Unstructured)) },
		Coerce: func(o resource.Object, unknown bool) ([]string, error) {
			return v.coerce(o.(*unstructured.Unstructured), coercion{unknown: unknown})
		},
		Default:      func(o resource.Object) { v.setDefaults(o.(*unstructured.Unstructured)) },
		Hooks:        v.hooks(),
		Subresources: v.subresources(),
		Table:        v.table(),
		Fields:       v.selectable(),
		FieldAliases: v.aliases(),
		FieldError:   "field label not supported: %s",
		Deprecated:   v.deprecation(),
		OwnMetadata:  true, NeedsVersion: true,
		Fingerprint: sync.OnceValue(v.fingerprint),
	}
	if v != v.stored {
		r.ToStorage = func(o resource.Object) (resource.Object, error) {
			return v.stored.to(o.(*unstructured.Unstructured).DeepCopy())
		}
	}
	return r
}

func (v *version) subresources() []resource.Subresource {
	var out []resource.Subresource
	if v.hasStatus() {
		hooks := v.statusHooks()
		out = append(out, resource.Subresource{Name: "status", Verbs: resource.StatusVerbs, Hooks: &hooks})
	}
	if s := v.scale(); s != nil {
		out = append(out, resource.Subresource{Name: "scale", Verbs: resource.StatusVerbs, GVK: resource.ScaleGVK, Scale: scaleOf(s)})
	}
	return out
}

// fingerprint is the hash of all that decides what is read of a stored value.
func (v *version) fingerprint() string {
	hash := sha256.New()
	// What can't be encoded is alike to nothing but itself.
	if err := json.NewEncoder(hash).Encode(v.crd.Spec); err != nil {
		return fmt.Sprintf("%p", v)
	}
	return v.gvk.Version + " " + string(hash.Sum(nil))
}

// marshal makes the stored value: the tree as JSON.
func marshal(o resource.Object) ([]byte, error) {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(o.(*unstructured.Unstructured).Object)
	return b.Bytes(), err
}

// unmarshal reads a stored value in whatever version it is.
func (d *definition) unmarshal(raw []byte) (resource.Object, error) {
	u := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &u.Object); err != nil {
		return nil, err
	}
	if gv := u.GroupVersionKind(); gv.Group != d.crd.Spec.Group || d.versions[gv.Version] == nil {
		return nil, fmt.Errorf("%s is no version of %s", u.GetAPIVersion(), d.crd.Name)
	}
	_, err := d.coerce(u, coercion{stored: true})
	return u, err
}

// deprecation is the warning that every request for a deprecated version gets.
func (v *version) deprecation() string {
	switch {
	case !v.spec.Deprecated:
		return ""
	case v.spec.DeprecationWarning != nil:
		return *v.spec.DeprecationWarning
	}
	s := &v.crd.Spec
	text := fmt.Sprintf("%s/%s %s is deprecated", s.Group, v.spec.Name, s.Names.Kind)
	newer := slices.Collect(func(yield func(string) bool) {
		for _, o := range s.Versions {
			if o.Served && !o.Deprecated && kubeversion.CompareKubeAwareVersionStrings(v.spec.Name, o.Name) < 0 && !yield(o.Name) {
				return
			}
		}
	})
	if len(newer) == 0 {
		return text
	}
	return text + fmt.Sprintf("; use %s/%s %s", s.Group, slices.MaxFunc(newer, kubeversion.CompareKubeAwareVersionStrings), s.Names.Kind)
}

// fieldName is under which the value of a version's selectable field is kept: versions may select by different fields.
func (v *version) fieldName(f apiextensionsv1.SelectableField) string {
	return v.spec.Name + "/" + strings.TrimPrefix(f.JSONPath, ".")
}
