package crd

import (
	"fmt"
	"sync"

	"github.com/kogge-dev/kogge/apiserver/internal/callout"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// callCost is what one evaluation of a rule may cost, budget what all rules may cost for one object, in CEL's units.
const (
	callCost = 1_000_000
	budget   = 10_000_000
)

// definition is a CustomResourceDefinition made ready to serve. What is costly is made when it is first needed.
type definition struct {
	crd      *apiextensionsv1.CustomResourceDefinition
	versions map[string]*version
	stored   *version
	convert  conversion
}

// version is one version of a definition.
type version struct {
	*definition
	spec *apiextensionsv1.CustomResourceDefinitionVersion
	gvk  schema.GroupVersionKind

	// props is the schema as validators take it; nil: there is none. structural is the same as a tree of what each place may hold.
	props      func() (*apiextensions.JSONSchemaProps, error)
	structural func() (*structuralschema.Structural, error)
	rules      func() (*rules, error)
}

// rules are what objects of a version are judged by.
type rules struct {
	structural  *structuralschema.Structural
	whole       schemavalidation.SchemaValidator
	status      schemavalidation.SchemaValidator // nil: anything may stand there
	expressions *cel.Validator                   // nil: there are none
}

// newDefinition reads a definition whose names are accepted.
func newDefinition(crd *apiextensionsv1.CustomResourceDefinition, o callout.Options) (*definition, error) {
	d := &definition{crd: crd, versions: map[string]*version{}}
	for i := range crd.Spec.Versions {
		v := d.newVersion(&crd.Spec.Versions[i])
		d.versions[v.spec.Name] = v
		if v.spec.Storage {
			d.stored = v
		}
	}
	if d.stored == nil {
		return nil, fmt.Errorf("definition %s has no storage version", crd.Name)
	}
	d.convert = conversionOf(d, o)
	return d, nil
}

func (d *definition) newVersion(spec *apiextensionsv1.CustomResourceDefinitionVersion) *version {
	v := &version{definition: d, spec: spec, gvk: schema.GroupVersionKind{Group: d.crd.Spec.Group, Version: spec.Name, Kind: d.crd.Status.AcceptedNames.Kind}}
	v.props = sync.OnceValues(v.makeProps)
	v.structural = sync.OnceValues(v.makeStructural)
	v.rules = sync.OnceValues(v.makeRules)
	return v
}

// prefix is where the objects are stored.
func (d *definition) prefix() string {
	return "/registry/" + d.crd.Spec.Group + "/" + d.crd.Status.AcceptedNames.Plural + "/"
}

func (d *definition) namespaced() bool { return d.crd.Spec.Scope == apiextensionsv1.NamespaceScoped }

func (v *version) makeProps() (*apiextensions.JSONSchemaProps, error) {
	if v.spec.Schema == nil || v.spec.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	out := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.spec.Schema.OpenAPIV3Schema.DeepCopy(), out, nil)
	return out, err
}

func (v *version) makeStructural() (*structuralschema.Structural, error) {
	props, err := v.props()
	if err != nil || props == nil {
		return nil, err
	}
	s, err := structuralschema.NewStructural(props)
	if v.crd.Spec.PreserveUnknownFields {
		return s, nil // an old definition: what is not structural is not applied
	}
	if err != nil {
		return nil, err
	}
	s = s.DeepCopy()
	return s, defaulting.PruneDefaults(s)
}

func (v *version) makeRules() (*rules, error) {
	props, err := v.props()
	if err != nil {
		return nil, err
	}
	s, err := v.structural()
	if err != nil {
		return nil, err
	}
	r := &rules{structural: s, expressions: cel.NewValidator(s, true, callCost)}
	if r.whole, _, err = schemavalidation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	if props != nil && v.hasStatus() {
		if status, ok := props.Properties["status"]; ok {
			r.status, _, err = schemavalidation.NewSchemaValidator(&status)
		}
	}
	return r, err
}

func (v *version) hasStatus() bool {
	return v.spec.Subresources != nil && v.spec.Subresources.Status != nil
}

func (v *version) scale() *apiextensionsv1.CustomResourceSubresourceScale {
	if v.spec.Subresources == nil {
		return nil
	}
	return v.spec.Subresources.Scale
}
