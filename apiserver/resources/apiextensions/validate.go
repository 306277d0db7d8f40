package apiextensions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/operation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

var (
	metaPath = field.NewPath("metadata")
	specPath = field.NewPath("spec")
)

// judge applies a rule to the internal form.
func judge(d *apiextensionsv1.CustomResourceDefinition, rule func(n *apiextensions.CustomResourceDefinition) field.ErrorList) field.ErrorList {
	n, err := Internal(d)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return rule(n)
}

// judgeBoth applies a rule for changes.
func judgeBoth(d, old *apiextensionsv1.CustomResourceDefinition, rule func(n, o *apiextensions.CustomResourceDefinition) field.ErrorList) field.ErrorList {
	return judge(d, func(n *apiextensions.CustomResourceDefinition) field.ErrorList {
		return judge(old, func(o *apiextensions.CustomResourceDefinition) field.ErrorList { return rule(n, o) })
	})
}

func validateCreate(ctx context.Context, d *apiextensions.CustomResourceDefinition) field.ErrorList {
	name := func(name string, prefix bool) []string {
		errs := apivalidation.NameIsDNSSubdomain(name, prefix)
		if name != d.Spec.Names.Plural+"."+d.Spec.Group {
			errs = append(errs, `must be spec.names.plural+"."+spec.group`)
		}
		return errs
	}
	errs := apivalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, &d.ObjectMeta, nil, false, name, metaPath, true)
	j := newJudge(ctx, d, nil)
	errs = append(errs, j.spec(&d.Spec)...)
	return append(errs, rest(d, nil)...)
}

func validateUpdate(ctx context.Context, d, old *apiextensions.CustomResourceDefinition) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaDeclaratively(ctx, operation.Update, &d.ObjectMeta, &old.ObjectMeta, false, nil, metaPath, true)
	j := newJudge(ctx, d, old)
	errs = append(errs, j.spec(&d.Spec)...)
	names := specPath.Child("names")
	if apiextensions.IsCRDConditionTrue(old, apiextensions.Established) {
		errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Scope, old.Spec.Scope, specPath.Child("scope"))...)
		errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Names.Kind, old.Spec.Names.Kind, names.Child("kind"))...)
	}
	errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Group, old.Spec.Group, specPath.Child("group"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(d.Spec.Names.Plural, old.Spec.Names.Plural, names.Child("plural"))...)
	return append(errs, rest(d, old)...)
}

func validateStatusUpdate(ctx context.Context, d, old *apiextensions.CustomResourceDefinition) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaDeclaratively(ctx, operation.Update, &d.ObjectMeta, &old.ObjectMeta, false, nil, metaPath, true)
	return append(errs, validateNames(&d.Status.AcceptedNames, field.NewPath("status", "acceptedNames"))...)
}

// rest judges what is outside of the spec's own rules.
func rest(d, old *apiextensions.CustomResourceDefinition) field.ErrorList {
	status := field.NewPath("status")
	errs := validateNames(&d.Status.AcceptedNames, status.Child("acceptedNames"))
	errs = append(errs, validateStoredVersions(d.Status.StoredVersions, d.Spec.Versions, status.Child("storedVersions"))...)
	errs = append(errs, validateApproval(d, old)...)
	if old != nil && ptr.Deref(old.Spec.PreserveUnknownFields, false) {
		return errs
	}
	if ptr.Deref(d.Spec.PreserveUnknownFields, false) {
		errs = append(errs, field.Invalid(specPath.Child("preserveUnknownFields"), d.Spec.PreserveUnknownFields,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

// validateStoredVersions: the stored version is among those that may be in the store, and all of these are still defined.
func validateStoredVersions(stored []string, versions []apiextensions.CustomResourceDefinitionVersion, path *field.Path) field.ErrorList {
	if len(stored) == 0 {
		return field.ErrorList{field.Invalid(path, stored, "must have at least one stored version")}
	}
	var errs field.ErrorList
	defined := map[string]bool{}
	for _, v := range versions {
		defined[v.Name] = true
		if v.Storage && !slices.Contains(stored, v.Name) {
			errs = append(errs, field.Invalid(path, stored, "must have the storage version "+v.Name))
		}
	}
	for i, v := range stored {
		if !defined[v] && !slices.Contains(stored[i+1:], v) {
			errs = append(errs, field.Invalid(path.Index(i), v, fmt.Sprintf(
				"missing from spec.versions; %[1]s was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", v)))
		}
	}
	return errs
}

// spec judges everything that a definition asks for.
func (j judgement) spec(s *apiextensions.CustomResourceDefinitionSpec) field.ErrorList {
	errs := validateGroup(s.Group)
	errs = append(errs, enum(specPath.Child("scope"), string(s.Scope), string(apiextensions.ClusterScoped), string(apiextensions.NamespaceScoped))...)
	prunes := !ptr.Deref(s.PreserveUnknownFields, false)
	errs = append(errs, j.schemasGiven(s, prunes)...)
	j.structural = j.structural || prunes || anySchema(s, hasExtensions)
	if anySchema(s, hasDefault) {
		j.structural = true
		if s.PreserveUnknownFields == nil || *s.PreserveUnknownFields {
			errs = append(errs, field.Invalid(specPath.Child("preserveUnknownFields"), true, "must be false in order to use defaults in the schema"))
		}
	}
	errs = append(errs, j.versions(s)...)
	errs = append(errs, validateShared(s)...)
	errs = append(errs, validateVersionList(s)...)
	errs = append(errs, validateRequiredNames(&s.Names, specPath.Child("names"))...)
	errs = append(errs, validateNames(&s.Names, specPath.Child("names"))...)
	errs = append(errs, j.ofVersion(s.Version).validation(s.Validation, anyStatus(s), specPath.Child("validation"))...)
	errs = append(errs, validateSubresources(s.Subresources, specPath.Child("subresources"))...)
	for i := range s.AdditionalPrinterColumns {
		errs = append(errs, validateColumn(&s.AdditionalPrinterColumns[i], specPath.Child("additionalPrinterColumns").Index(i))...)
	}
	if len(s.SelectableFields) > 0 {
		errs = append(errs, j.selectable(s.SelectableFields, s.Validation, specPath, "may only be set when validations.schema is included", "")...)
	}
	if c := s.Conversion; c != nil && c.Strategy != apiextensions.NoneConverter && (s.PreserveUnknownFields == nil || *s.PreserveUnknownFields) {
		errs = append(errs, field.Invalid(specPath.Child("conversion", "strategy"), c.Strategy, "must be None if spec.preserveUnknownFields is true"))
	}
	return append(errs, j.conversion(s.Conversion, specPath.Child("conversion"))...)
}

func validateGroup(group string) field.ErrorList {
	path := specPath.Child("group")
	if group == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	if errs := validation.IsDNS1123Subdomain(group); len(errs) > 0 {
		return field.ErrorList{field.Invalid(path, group, strings.Join(errs, ","))}
	}
	if !strings.Contains(group, ".") {
		return field.ErrorList{field.Invalid(path, group, "should be a domain with at least one dot")}
	}
	return nil
}

// enum demands one of several values.
func enum(path *field.Path, value string, accepted ...string) field.ErrorList {
	switch {
	case value == "":
		return field.ErrorList{field.Required(path, "")}
	case !slices.Contains(accepted, value):
		return field.ErrorList{field.NotSupported(path, value, accepted)}
	}
	return nil
}

// schemasGiven: every version needs a schema, unless the old definition went without.
func (j judgement) schemasGiven(s *apiextensions.CustomResourceDefinitionSpec, prunes bool) field.ErrorList {
	if s.Validation != nil && s.Validation.OpenAPIV3Schema != nil {
		return nil
	}
	var errs field.ErrorList
	for i, v := range s.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			continue
		}
		path := specPath.Child("versions").Index(i).Child("schema", "openAPIV3Schema")
		switch {
		case j.schemaRequired:
			errs = append(errs, field.Required(path, ""))
		case prunes && v.Served:
			errs = append(errs, field.Required(path, "because otherwise all fields are pruned"))
		}
	}
	return errs
}

// validateVersionList: names are unique and one version is stored.
func validateVersionList(s *apiextensions.CustomResourceDefinitionSpec) field.ErrorList {
	var errs field.ErrorList
	path := specPath.Child("versions")
	seen, stored := map[string]bool{}, 0
	for _, v := range s.Versions {
		seen[v.Name] = true
		if v.Storage {
			stored++
		}
	}
	if len(seen) != len(s.Versions) {
		errs = append(errs, field.Invalid(path, s.Versions, "must contain unique version names"))
	}
	if stored != 1 {
		errs = append(errs, field.Invalid(path, s.Versions, "must have exactly one version marked as storage version"))
	}
	if s.Version == "" {
		return errs
	}
	if bad := validation.IsDNS1035Label(s.Version); len(bad) > 0 {
		errs = append(errs, field.Invalid(specPath.Child("version"), s.Version, strings.Join(bad, ",")))
	}
	if len(s.Versions) > 0 && s.Versions[0].Name != s.Version {
		errs = append(errs, field.Invalid(specPath.Child("version"), s.Version, "must match the first version in spec.versions"))
	}
	return errs
}
