package crd

import (
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const metaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1."

// Descriptions of the fields that every object has.
const (
	apiVersionText = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	kindText       = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"

	embeddedAPIVersionText = "apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"
	embeddedKindText       = "kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"
)

var (
	metadataText     = metav1.PartialObjectMetadata{}.SwaggerDoc()["metadata"]
	listMetadataText = metav1.PartialObjectMetadataList{}.SwaggerDoc()["metadata"]
)

// publication says in which form a schema is published.
type publication struct {
	// v2: OpenAPI version 2, in which kubectl of old takes what a schema does not name for forbidden.
	v2 bool
	// fields: the selectable fields are told.
	fields bool
	// wrap: a reference with a description stands in an allOf, since version 3 knows nothing beside a reference.
	wrap bool
}

// reference to a model.
func (p publication) reference(name string) *spec.Schema {
	if p.v2 {
		return spec.RefSchema("#/definitions/" + name)
	}
	return spec.RefSchema("#/components/schemas/" + name)
}

// described is a reference with a description.
func (p publication) described(name, text string) spec.Schema {
	ref := p.reference(name)
	if p.wrap {
		ref = spec.ComposedSchema(*ref)
	}
	return *ref.WithDescription(text)
}

// modelName is what a kind is called in OpenAPI: com.example.v1.Foo.
func modelName(k schema.GroupVersionKind) string {
	parts := strings.Split(k.Group, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + k.Version + "." + k.Kind
}

// published is the structural schema that is shown; nil if there is none fit to be.
func (v *version) published() (*structuralschema.Structural, error) {
	props, err := v.props()
	if err != nil || props == nil {
		return nil, err
	}
	s, err := structuralschema.NewStructural(props)
	if err != nil || len(structuralschema.ValidateStructural(nil, s)) > 0 {
		return nil, nil // an old definition's: nothing is known of its objects
	}
	return s.Unfold(), nil
}

// openAPISchema is a version's schema with what every object has besides.
func (v *version) openAPISchema(p publication) (*spec.Schema, error) {
	s, err := v.published()
	if err != nil {
		return nil, err
	}
	out := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	if s != nil && !(p.v2 && (s.XPreserveUnknownFields || v.crd.Spec.PreserveUnknownFields)) {
		if p.v2 {
			s = forV2(s)
		}
		out = s.ToKubeOpenAPI()
		out.SetProperty("metadata", p.described(metaPackage+"ObjectMeta", metadataText))
		addType(out, apiVersionText, kindText)
		p.embedded(out)
	}
	out.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": v.gvk.Group, "version": v.gvk.Version, "kind": v.crd.Spec.Names.Kind}})
	v.addFields(out, p)
	return out, nil
}

func addType(s *spec.Schema, apiVersion, kind string) {
	s.SetProperty("apiVersion", *spec.StringProperty().WithDescription(apiVersion))
	s.SetProperty("kind", *spec.StringProperty().WithDescription(kind))
}

func (v *version) addFields(s *spec.Schema, p publication) {
	if !p.fields || len(v.spec.SelectableFields) == 0 {
		return
	}
	var out []any
	for _, f := range v.spec.SelectableFields {
		out = append(out, map[string]any{"fieldPath": strings.TrimPrefix(f.JSONPath, ".")})
	}
	s.AddExtension("x-kubernetes-selectable-fields", out)
}

// embedded completes the objects that stand within an object.
func (p publication) embedded(s *spec.Schema) {
	if s == nil {
		return
	}
	for name, below := range s.Properties {
		p.embedded(&below)
		s.Properties[name] = below
	}
	if s.Items != nil {
		p.embedded(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		p.embedded(s.AdditionalProperties.Schema)
	}
	if open, ok := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields"); ok && open && p.v2 {
		return // what is named there would be all that may stand there
	}
	if is, ok := s.Extensions.GetBool("x-kubernetes-embedded-resource"); !ok || !is {
		return
	}
	addType(s, embeddedAPIVersionText, embeddedKindText)
	s.SetProperty("metadata", p.described(metaPackage+"ObjectMeta", metadataText))
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
}

// listSchema is the schema of a list of a version's objects.
func (v *version) listSchema(p publication) *spec.Schema {
	names := v.crd.Spec.Names
	kind := v.gvk
	kind.Kind = names.Kind
	items := spec.ArrayProperty(p.reference(modelName(kind))).WithDescription("List of " + names.Plural + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md")
	s := new(spec.Schema).Typed("object", "").WithDescription(names.ListKind+" is a list of "+names.Kind).WithRequired("items").
		SetProperty("items", *items).
		SetProperty("metadata", p.described(metaPackage+"ListMeta", listMetadataText))
	addType(s, apiVersionText, kindText)
	s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": v.gvk.Group, "version": v.gvk.Version, "kind": names.ListKind}})
	v.addFields(s, p)
	return s
}

// forV2 leaves out what version 2 can't say, and what its readers misunderstand.
func forV2(s *structuralschema.Structural) *structuralschema.Structural {
	out := s.DeepCopy()
	visitor := structuralschema.Visitor{Structural: lowerToV2}
	visitor.Visit(out)
	return out
}

// lowerToV2 changes one place and says whether it did.
func lowerToV2(s *structuralschema.Structural) bool {
	s.Default.Object = nil
	if v := s.ValueValidation; v != nil {
		v.AllOf, v.OneOf, v.AnyOf, v.Not = nil, nil, nil, nil
	}
	if s.Nullable {
		s.Type, s.Nullable, s.Items, s.Properties = "", false, nil, nil
	}
	if s.XPreserveUnknownFields {
		s.Items, s.Properties = nil, nil
	}
	if s.Items == nil && s.Type == "array" || s.XPreserveUnknownFields && s.Type == "object" {
		s.Type = ""
	}
	for name, below := range s.Properties {
		if below.Nullable && s.ValueValidation != nil {
			s.ValueValidation.Required = slices.DeleteFunc(s.ValueValidation.Required, func(r string) bool { return r == name })
		}
	}
	if a := s.AdditionalProperties; a != nil && a.Structural != nil && a.Structural.Nullable && s.ValueValidation != nil {
		s.ValueValidation.Required = nil
	}
	return true
}
