package apiextensions

import (
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// rootFields may stand at the root of a schema with a status endpoint: the status is judged by properties["status"] alone.
var rootFields = []string{"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength", "MinLength", "Pattern",
	"MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations"}

// validation judges a whole schema.
func (j judgement) validation(v *apiextensions.CustomResourceValidation, status bool, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	var errs field.ErrorList
	if v.OpenAPIV3Schema != nil {
		errs = j.root(v.OpenAPIV3Schema, status, path)
	}
	if len(errs) == 0 {
		if _, _, err := schemavalidation.NewSchemaValidator(v.OpenAPIV3Schema); err != nil {
			errs = append(errs, field.Invalid(path, "", "error building validator: "+err.Error()))
		}
	}
	return errs
}

func (j judgement) root(s *schemaProps, status bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if status {
		errs = validateRootFields(s, path)
	}
	if s.Nullable {
		errs = append(errs, field.Forbidden(path.Child("openAPIV3Schema.nullable"), "nullable cannot be true at the root"))
	}
	at := path.Child("openAPIV3Schema")
	var unstructured field.ErrorList // they repeat what the rules below find, if these find anything
	var c *celContext
	if j.structural {
		ss, err := structuralschema.NewStructural(s)
		if err != nil {
			unstructured = append(unstructured, field.Invalid(at, "", err.Error()))
		} else if bad := j.structure(ss, at); len(bad) > 0 {
			errs = append(errs, bad...)
		} else {
			c = rootContext(s)
		}
	}
	n := node{judgement: &j, schema: s, path: at, context: c, defaults: true, isRoot: true}
	found := n.judge()
	errs = append(errs, found.all()...)
	if len(errs) == 0 {
		errs = append(errs, unstructured...)
	}
	return append(errs, c.tooCostly(at)...)
}

// structure judges what only a structural schema has, and its defaults.
func (j judgement) structure(s *structuralschema.Structural, path *field.Path) field.ErrorList {
	if errs := structuralschema.ValidateStructural(path, s); len(errs) > 0 {
		return errs
	}
	errs, err := defaulting.ValidateDefaults(j.ctx, path, s, true, j.pruned)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	return errs
}

func validateRootFields(s *schemaProps, path *field.Path) field.ErrorList {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			continue
		}
		name := v.Type().Field(i).Name
		switch {
		case name == "Type" && s.Type != "object":
			return field.ErrorList{field.Invalid(path.Child("openAPIV3Schema.type"), s.Type,
				`only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)}
		case !slices.Contains(rootFields, name):
			return field.ErrorList{field.Invalid(path.Child("openAPIV3Schema"), *s, rootFieldsText)}
		}
	}
	return nil
}

// findings of a node and those below it: rules are only compiled where the schema is sound.
type findings struct{ schema, rules field.ErrorList }

func (f *findings) add(o findings) {
	f.schema = append(f.schema, o.schema...)
	f.rules = append(f.rules, o.rules...)
}

func (f *findings) all() field.ErrorList { return append(f.schema, f.rules...) }

// node is one place of a schema while it is judged.
type node struct {
	*judgement
	schema  *schemaProps
	path    *field.Path
	context *celContext // nil: rules are not judged here
	isRoot  bool

	// defaults may be given; if not, why.
	defaults   bool
	noDefaults string
	// meta: the node describes the metadata of an object.
	meta bool
	// uncorrelated is the outermost place from which on old and new values can't be told to belong together.
	uncorrelated *field.Path
}

// judge judges a node and all below it.
func (n node) judge() (f findings) {
	s := n.schema
	if s == nil {
		return f
	}
	f.schema = n.unsupported()
	if s.UniqueItems {
		f.schema = append(f.schema, field.Forbidden(n.path.Child("uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"))
	}
	f.add(n.additional())
	f.add(n.properties())
	f.add(n.junctors())
	f.add(n.items())
	f.schema = append(f.schema, n.extensions()...)
	if n.listKeys {
		f.schema = append(f.schema, listKeyErrors(s, n.path)...)
	}
	if len(s.XValidations) > 0 {
		f.schema = append(f.schema, n.ruleTexts()...)
		if len(f.schema) == 0 && n.context != nil {
			f.rules = append(f.rules, n.rules()...)
		}
	}
	return f
}

func (n node) forbidDefaults(why string) node {
	n.defaults, n.noDefaults = false, why
	return n
}

// uncorrelate notes that what is below can't be matched with its old value.
func (n node) uncorrelate(path *field.Path) node {
	if n.uncorrelated == nil {
		n.uncorrelated = path
	}
	return n
}

// at moves to a schema below.
func (n node) at(s *schemaProps, path *field.Path, c *celContext) node {
	n.schema, n.path, n.context, n.isRoot = s, path, c, false
	return n
}

func (n node) additional() (f findings) {
	a := n.schema.AdditionalProperties
	if a == nil {
		return f
	}
	path := n.path.Child("additionalProperties")
	if len(n.schema.Properties) > 0 && (!a.Allows || a.Schema != nil) {
		f.schema = append(f.schema, field.Forbidden(path, "additionalProperties and properties are mutual exclusive"))
	}
	below := n.at(a.Schema, path, n.context.values(a.Schema))
	if n.meta {
		below = below.forbidDefaults("inside additionalProperties applying to object metadata")
	}
	f.add(below.judge())
	return f
}

func (n node) properties() (f findings) {
	for name, s := range n.schema.Properties {
		below := n.at(&s, n.path.Child("properties").Key(name), n.context.property(&s, name))
		if !cel.MapIsCorrelatable(n.schema.XMapType) {
			below = below.uncorrelate(n.path)
		}
		if (n.isRoot || n.schema.XEmbeddedResource) && slices.Contains([]string{"metadata", "kind", "apiVersion"}, name) {
			below.meta = true
			if n.isRoot {
				below = below.forbidDefaults("in top-level " + name)
			}
		}
		f.add(below.judge())
	}
	return f
}

// junctors judges schemas that say what else must hold of the same value; rules have no place in them.
func (n node) junctors() (f findings) {
	s := n.schema
	f.add(n.at(s.Not, n.path.Child("not"), nil).judge())
	for name, list := range map[string][]schemaProps{"allOf": s.AllOf, "oneOf": s.OneOf, "anyOf": s.AnyOf} {
		for i := range list {
			f.add(n.at(&list[i], n.path.Child(name).Index(i), nil).judge())
		}
	}
	for name, d := range s.Definitions {
		f.add(n.at(&d, n.path.Child("definitions").Key(name), nil).judge())
	}
	for name, d := range s.Dependencies {
		f.add(n.at(d.Schema, n.path.Child("dependencies").Key(name), nil).judge())
	}
	return f
}

func (n node) items() (f findings) {
	items := n.schema.Items
	if items == nil {
		return f
	}
	path := n.path.Child("items")
	if t := n.schema.XListType; t == nil || *t != "map" {
		n = n.uncorrelate(n.path)
	}
	f.add(n.at(items.Schema, path, n.context.items(items.Schema)).judge())
	for i := range items.JSONSchemas {
		s := &items.JSONSchemas[i]
		f.add(n.at(s, path.Index(i), n.context.items(s)).judge())
	}
	return f
}
