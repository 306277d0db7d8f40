package apiextensions

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of a version.
const (
	maxSelectable         = 8
	maxDeprecationWarning = 256
)

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

// versions judges each version.
func (j judgement) versions(s *apiextensions.CustomResourceDefinitionSpec) field.ErrorList {
	var errs field.ErrorList
	for i := range s.Versions {
		v := &s.Versions[i]
		path := specPath.Child("versions").Index(i)
		errs = append(errs, label(path.Child("name"), v.Name, v.Name, "")...)
		errs = append(errs, validateDeprecation(v, path.Child("deprecationWarning"))...)
		errs = append(errs, j.ofVersion(v.Name).validation(v.Schema, hasStatus(subresourcesOf(s, v)), path.Child("schema"))...)
		errs = append(errs, validateSubresources(v.Subresources, path.Child("subresources"))...)
		for k := range v.AdditionalPrinterColumns {
			errs = append(errs, validateColumn(&v.AdditionalPrinterColumns[k], path.Child("additionalPrinterColumns").Index(k))...)
		}
		if len(v.SelectableFields) > 0 {
			errs = append(errs, j.selectable(v.SelectableFields, v.Schema, path, "may only be set when `version.schema.openAPIV3Schema` is not included", v.Name)...)
		}
	}
	return errs
}

func validateDeprecation(v *version, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	refuse := func(why string) { errs = append(errs, field.Invalid(path, v.DeprecationWarning, why)) }
	switch {
	case v.DeprecationWarning == nil:
		return nil
	case !v.Deprecated:
		refuse("can only be set for deprecated versions")
		return errs
	}
	text := *v.DeprecationWarning
	if len(text) > maxDeprecationWarning {
		refuse("must be <= 256 characters long")
	}
	if text == "" {
		refuse("must not be an empty string")
	}
	const printable = "must only contain printable UTF-8 characters"
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		refuse(fmt.Sprintf("%s; non-printable character found at index %d", printable, i))
	}
	if !utf8.ValidString(text) {
		refuse(printable)
	}
	return errs
}

func validateColumn(c *apiextensions.CustomResourceColumnDefinition, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	types := "must be one of " + strings.Join(columnTypes, ",")
	switch {
	case c.Type == "":
		errs = append(errs, field.Required(path.Child("type"), types))
	case !slices.Contains(columnTypes, c.Type):
		errs = append(errs, field.Invalid(path.Child("type"), c.Type, types))
	}
	if c.Format != "" && !slices.Contains(columnFormats, c.Format) {
		errs = append(errs, field.Invalid(path.Child("format"), c.Format, "must be one of "+strings.Join(columnFormats, ",")))
	}
	return append(errs, jsonPath(c.JSONPath, path.Child("JSONPath"))...)
}

// jsonPath demands a simple path; below, when given, are what it may begin with.
func jsonPath(text string, path *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(path, "")}
	case text[0] != '.':
		return field.ErrorList{field.Invalid(path, text, "must be a simple json path starting with .")}
	}
	return nil
}

func validateSubresources(s *apiextensions.CustomResourceSubresources, path *field.Path) field.ErrorList {
	if s == nil || s.Scale == nil {
		return nil
	}
	below := func(name, text, prefix string) field.ErrorList {
		at := path.Child("scale." + name)
		errs := jsonPath(text, at)
		if len(errs) == 0 && !strings.HasPrefix(text, prefix+".") {
			errs = append(errs, field.Invalid(at, text, "should be a json path under "+prefix))
		}
		return errs
	}
	errs := below("specReplicasPath", s.Scale.SpecReplicasPath, ".spec")
	errs = append(errs, below("statusReplicasPath", s.Scale.StatusReplicasPath, ".status")...)
	text := s.Scale.LabelSelectorPath
	if text == nil || *text == "" {
		return errs
	}
	at := path.Child("scale.labelSelectorPath")
	if bad := jsonPath(*text, at); len(bad) > 0 {
		return append(errs, bad...)
	}
	if !strings.HasPrefix(*text, ".spec.") && !strings.HasPrefix(*text, ".status.") {
		errs = append(errs, field.Invalid(at, text, "should be a json path under either .spec or .status"))
	}
	return errs
}

// selectable judges the fields that objects can be selected by. without is what is said if there is no schema.
func (j judgement) selectable(list []apiextensions.SelectableField, schema *apiextensions.CustomResourceValidation, path *field.Path, without, name string) field.ErrorList {
	at := path.Child("selectableFields")
	if schema == nil || schema.OpenAPIV3Schema == nil {
		return field.ErrorList{field.Invalid(at, "", without)}
	}
	var errs field.ErrorList
	ss, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("schema.openAPIV3Schema"), "", err.Error()))
	}
	seen := map[string]bool{}
	for i, f := range list {
		errs = append(errs, selectableField(f.JSONPath, ss, at.Index(i).Child("jsonPath"), seen)...)
	}
	if len(seen) > maxSelectable && !j.fieldsKept[name] {
		errs = append(errs, field.TooMany(at, len(seen), maxSelectable))
	}
	return errs
}

func selectableField(text string, schema *structuralschema.Structural, path *field.Path, seen map[string]bool) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	found, at, err := cel.ValidFieldPath(text, schema, cel.WithFieldPathAllowArrayNotation(false))
	if err != nil {
		return field.ErrorList{field.Invalid(path, text, fmt.Sprintf("is an invalid path: %v", err))}
	}
	var errs field.ErrorList
	if found.Root().String() == "metadata" {
		errs = append(errs, field.Invalid(path, text, "must not point to fields in metadata"))
	}
	if at == nil || !slices.Contains([]string{"string", "boolean", "integer"}, at.Type) {
		errs = append(errs, field.Invalid(path, text, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."))
	}
	if seen[found.String()] {
		errs = append(errs, field.Duplicate(path, text))
	}
	seen[found.String()] = true
	return errs
}
