package crd

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/internal/callout"
)

// conversion makes an object of one version into one of another. It may change the object that it is given.
type conversion interface {
	convert(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error)
}

func conversionOf(d *definition, o callout.Options) conversion {
	c := d.crd.Spec.Conversion
	switch {
	case c == nil || c.Strategy == apiextensionsv1.NoneConverter:
		return rename{}
	case c.Strategy == apiextensionsv1.WebhookConverter && c.Webhook != nil && c.Webhook.ClientConfig != nil:
		return newWebhook(c.Webhook, o)
	}
	return unknown(c.Strategy)
}

// rename is the strategy None: versions differ in their name alone.
type rename struct{}

func (rename) convert(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	obj.SetAPIVersion(to.String())
	return obj, nil
}

// unknown is a strategy that is not served: only objects that need no conversion are.
type unknown apiextensionsv1.ConversionStrategyType

func (u unknown) convert(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured, error) {
	return nil, fmt.Errorf("conversion from %s to %s: strategy %s is not served", obj.GetAPIVersion(), to, string(u))
}

// to makes an object into this version; what the version does not know goes.
func (v *version) to(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if obj.GetAPIVersion() == v.gvk.GroupVersion().String() {
		return obj, nil
	}
	out, err := v.rename(obj)
	if err != nil {
		return nil, err
	}
	_, err = v.coerce(out, coercion{})
	return out, err
}

// rename converts without a look at the schema.
func (v *version) rename(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	from, to := obj.GroupVersionKind().GroupVersion(), v.gvk.GroupVersion()
	if from == to {
		return obj, nil
	}
	if from.Group != to.Group || v.versions[from.Version] == nil {
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", from)
	}
	return v.convert.convert(obj, to)
}

// converter is what field managers want of a scheme.
type converter struct{ *definition }

// New makes an empty object.
func (c converter) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// Default sets what a schema defaults.
func (c converter) Default(obj runtime.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		c.setDefaults(u)
	}
}

// Convert copies an object into another, in that one's version.
func (c converter) Convert(in, out, _ any) error {
	from, ok := in.(*unstructured.Unstructured)
	to, both := out.(*unstructured.Unstructured)
	if !ok || !both {
		return fmt.Errorf("input type %T in not valid for unstructured conversion to %T", in, out)
	}
	obj, err := c.ConvertToVersion(from, to.GroupVersionKind().GroupVersion())
	if err != nil {
		return err
	}
	to.Object = obj.(*unstructured.Unstructured).Object
	return nil
}

// ConvertToVersion makes an object of another version; the one it is given stays.
func (c converter) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	u, ok := in.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("%T is no custom resource", in)
	}
	gvk, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{u.GroupVersionKind()})
	if !ok {
		return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", u.GroupVersionKind(), to)
	}
	v := c.versions[gvk.Version]
	if v == nil || gvk.Group != c.crd.Spec.Group {
		return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gvk.GroupVersion())
	}
	return v.rename(u.DeepCopy())
}

// ConvertFieldLabel knows no other labels than those it is asked about.
func (c converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
