package flowcontrol

import (
	"context"
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Precedences of schemas: the lower is asked first; the first is the exempt schema's alone.
const (
	defaultPrecedence = 1000
	maxPrecedence     = 10000
)

var (
	specPath       = field.NewPath("spec")
	conditionsPath = field.NewPath("status", "conditions")
	schemaDocs     = flowcontrolv1.FlowSchemaSpec{}.SwaggerDoc()
)

// FlowSchema says which requests belong together, and which level they are served at.
var FlowSchema = resource.Define(resource.Kind[*flowcontrolv1.FlowSchema]{
	Name:  resource.Name{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "FlowSchema", Plural: "flowschemas"},
	List:  &flowcontrolv1.FlowSchemaList{},
	Store: "flowschemas",
	Default: func(s *flowcontrolv1.FlowSchema) {
		if s.Spec.MatchingPrecedence == 0 {
			s.Spec.MatchingPrecedence = defaultPrecedence
		}
	},
	Strategy: resource.Strategy[*flowcontrolv1.FlowSchema]{
		PrepareForCreate: func(_ context.Context, s *flowcontrolv1.FlowSchema) {
			s.Status = flowcontrolv1.FlowSchemaStatus{}
			s.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, s, old *flowcontrolv1.FlowSchema) {
			if !equality.Semantic.DeepEqual(s.Spec, old.Spec) {
				s.Generation = old.Generation + 1
			}
			s.Status = old.Status
		},
		Validate:       func(_ context.Context, s *flowcontrolv1.FlowSchema) field.ErrorList { return validateSchema(s) },
		ValidateUpdate: func(_ context.Context, s, _ *flowcontrolv1.FlowSchema) field.ErrorList { return validateSchema(s) },
		ResetFields:    []string{"status"},
	},
	Status: &resource.Strategy[*flowcontrolv1.FlowSchema]{
		PrepareForUpdate: func(_ context.Context, s, old *flowcontrolv1.FlowSchema) {
			managers := s.ManagedFields
			s.ObjectMeta, s.Spec = old.ObjectMeta, old.Spec
			s.ManagedFields = managers
		},
		ValidateUpdate: func(_ context.Context, s, _ *flowcontrolv1.FlowSchema) field.ErrorList {
			return validateConditions(schemaTypes(s))
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("PriorityLevel", "string", flowcontrolv1.PriorityLevelConfigurationReference{}.SwaggerDoc()["name"]),
		resource.Column("MatchingPrecedence", "string", schemaDocs["matchingPrecedence"]),
		resource.Column("DistinguisherMethod", "string", schemaDocs["distinguisherMethod"]),
		resource.AgeColumn,
		resource.Column("MissingPL", "string", "references a broken or non-existent PriorityLevelConfiguration"),
	},
	Row: func(s *flowcontrolv1.FlowSchema) []any {
		by, dangling := "<none>", "?"
		if m := s.Spec.DistinguisherMethod; m != nil {
			by = string(m.Type)
		}
		for _, c := range s.Status.Conditions {
			if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
				dangling = string(c.Status)
			}
		}
		return []any{s.Name, s.Spec.PriorityLevelConfiguration.Name, int64(s.Spec.MatchingPrecedence), by, resource.AgeOf(s), dangling}
	},
})

func schemaTypes(s *flowcontrolv1.FlowSchema) []string {
	var out []string
	for _, c := range s.Status.Conditions {
		out = append(out, string(c.Type))
	}
	return out
}

// validateConditions: each type once, and each with a name.
func validateConditions(types []string) field.ErrorList {
	var errs field.ErrorList
	for i, t := range types {
		path := conditionsPath.Index(i).Child("type")
		if slices.Contains(types[:i], t) {
			errs = append(errs, field.Duplicate(path, t))
		}
		errs = append(errs, rules.Required(path, t)...)
	}
	return errs
}

func validateSchema(s *flowcontrolv1.FlowSchema) field.ErrorList {
	var errs field.ErrorList
	at, n := specPath.Child("matchingPrecedence"), s.Spec.MatchingPrecedence
	if n <= 0 {
		errs = append(errs, field.Invalid(at, n, "must be a positive value"))
	}
	if n > maxPrecedence {
		errs = append(errs, field.Invalid(at, n, fmt.Sprintf("must not be greater than %v", maxPrecedence)))
	}
	if n == 1 && s.Name != flowcontrolv1.FlowSchemaNameExempt {
		errs = append(errs, field.Invalid(at, n, "only the schema named 'exempt' may have matchingPrecedence 1"))
	}
	if m := s.Spec.DistinguisherMethod; m != nil && m.Type != flowcontrolv1.FlowDistinguisherMethodByNamespaceType && m.Type != flowcontrolv1.FlowDistinguisherMethodByUserType {
		errs = append(errs, field.NotSupported(specPath.Child("distinguisherMethod", "type"), m, []flowcontrolv1.FlowDistinguisherMethodType{flowcontrolv1.FlowDistinguisherMethodByNamespaceType, flowcontrolv1.FlowDistinguisherMethodByUserType}))
	}
	at = specPath.Child("priorityLevelConfiguration", "name")
	if level := s.Spec.PriorityLevelConfiguration.Name; level == "" {
		errs = append(errs, field.Required(at, "must reference a priority level"))
	} else {
		errs = append(errs, rules.Invalid(at, level, apivalidation.NameIsDNSSubdomain(level, false))...)
	}
	for i := range s.Spec.Rules {
		errs = append(errs, validatePolicy(&s.Spec.Rules[i], specPath.Child("rules").Index(i))...)
	}
	if fixed, ok := mandatorySchemas[s.Name]; ok && !equality.Semantic.DeepEqual(s.Spec, fixed) {
		errs = append(errs, field.Invalid(specPath, s.Spec, fmt.Sprintf("spec of '%s' must equal the fixed value", s.Name)))
	}
	return append(errs, validateConditions(schemaTypes(s))...)
}

func validatePolicy(p *flowcontrolv1.PolicyRulesWithSubjects, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range p.Subjects {
		errs = append(errs, validateSubject(&p.Subjects[i], path.Child("subjects").Index(i))...)
	}
	if len(p.Subjects) == 0 {
		errs = append(errs, field.Required(path.Child("subjects"), "subjects must contain at least one value"))
	}
	if len(p.ResourceRules) == 0 && len(p.NonResourceRules) == 0 {
		errs = append(errs, field.Required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for i := range p.ResourceRules {
		errs = append(errs, validateResources(&p.ResourceRules[i], path.Child("resourceRules").Index(i))...)
	}
	for i := range p.NonResourceRules {
		r, at := &p.NonResourceRules[i], path.Child("nonResourceRules").Index(i)
		errs = append(errs, validateVerbs(r.Verbs, at.Child("verbs"))...)
		errs = append(errs, validateURLs(r.NonResourceURLs, at.Child("nonResourceURLs"))...)
	}
	return errs
}

// verbs of requests, in the order in which errors list them.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

// alone: a wildcard stands for all, so nothing may stand beside it.
func alone(list []string, path *field.Path, what string) field.ErrorList {
	if len(list) > 1 && slices.Contains(list, "*") {
		return field.ErrorList{field.Invalid(path, list, "if '*' is present, must not specify other "+what)}
	}
	return nil
}

func validateVerbs(list []string, path *field.Path) field.ErrorList {
	switch {
	case len(list) == 0:
		return field.ErrorList{field.Required(path, "verbs must contain at least one value")}
	case slices.Contains(list, "*"):
		return alone(list, path, "verbs")
	case slices.ContainsFunc(list, func(v string) bool { return !slices.Contains(verbs, v) }):
		return field.ErrorList{field.NotSupported(path, list, verbs)}
	}
	return nil
}

func validateURLs(list []string, path *field.Path) field.ErrorList {
	switch {
	case len(list) == 0:
		return field.ErrorList{field.Required(path, "nonResourceURLs must contain at least one value")}
	case slices.Contains(list, "*"):
		return alone(list, path, "non-resource URLs")
	}
	var errs field.ErrorList
	for i, u := range list {
		if text := badURL(u); text != "" {
			errs = append(errs, field.Invalid(path.Index(i), u, text))
		}
	}
	return errs
}

// badURL says what is wrong with a path; nothing if it is fine.
func badURL(u string) string {
	stars := strings.Count(u, "*")
	switch {
	case u == "":
		return "must not be empty"
	case u == "/":
		return ""
	case !strings.HasPrefix(u, "/"):
		return "must start with slash"
	case strings.Contains(u, " "):
		return "must not contain white-space"
	case strings.Contains(u, "//"):
		return "must not contain double slash"
	case stars > 1 || (stars == 1 && !strings.HasSuffix(u, "/*")):
		return "wildcard can only do suffix matching"
	}
	return ""
}

func validateResources(r *flowcontrolv1.ResourcePolicyRule, path *field.Path) field.ErrorList {
	errs := validateVerbs(r.Verbs, path.Child("verbs"))
	if len(r.APIGroups) == 0 {
		errs = append(errs, field.Required(path.Child("apiGroups"), "resource rules must supply at least one api group"))
	}
	errs = append(errs, alone(r.APIGroups, path.Child("apiGroups"), "api groups")...)
	if len(r.Resources) == 0 {
		errs = append(errs, field.Required(path.Child("resources"), "resource rules must supply at least one resource"))
	}
	errs = append(errs, alone(r.Resources, path.Child("resources"), "resources")...)
	at := path.Child("namespaces")
	if len(r.Namespaces) == 0 && !r.ClusterScope {
		return append(errs, field.Required(at, "resource rules that are not cluster scoped must supply at least one namespace"))
	}
	if slices.Contains(r.Namespaces, "*") {
		return append(errs, alone(r.Namespaces, at, "namespaces")...)
	}
	for i, ns := range r.Namespaces {
		for _, text := range apivalidation.ValidateNamespaceName(ns, false) {
			errs = append(errs, field.Invalid(at.Index(i), ns, "each member of this list must be '*' or a DNS-1123 label; "+text))
		}
	}
	return errs
}

// validateSubject: exactly the subject that the kind names.
func validateSubject(s *flowcontrolv1.Subject, path *field.Path) field.ErrorList {
	kinds := []flowcontrolv1.SubjectKind{flowcontrolv1.SubjectKindGroup, flowcontrolv1.SubjectKindServiceAccount, flowcontrolv1.SubjectKindUser}
	if !slices.Contains(kinds, s.Kind) {
		return field.ErrorList{field.NotSupported(path.Child("kind"), s.Kind, kinds)}
	}
	var errs, forbidden field.ErrorList
	for _, p := range []struct {
		kind flowcontrolv1.SubjectKind
		name string
		set  bool
		id   func() string
	}{
		{flowcontrolv1.SubjectKindServiceAccount, "serviceAccount", s.ServiceAccount != nil, func() string { return s.ServiceAccount.Name }},
		{flowcontrolv1.SubjectKindUser, "user", s.User != nil, func() string { return s.User.Name }},
		{flowcontrolv1.SubjectKindGroup, "group", s.Group != nil, func() string { return s.Group.Name }},
	} {
		at := path.Child(p.name)
		switch {
		case p.kind != s.Kind && p.set:
			forbidden = append(forbidden, field.Forbidden(at, fmt.Sprintf("%s is forbidden when subject kind is not '%s'", p.name, p.kind)))
		case p.kind != s.Kind:
		case !p.set:
			errs = append(errs, field.Required(at, fmt.Sprintf("%s is required when subject kind is '%s'", p.name, p.kind)))
		case p.id() == "":
			errs = append(errs, field.Required(at.Child("name"), ""))
		case p.kind == flowcontrolv1.SubjectKindServiceAccount && p.id() != "*":
			errs = append(errs, rules.Invalid(at.Child("name"), p.id(), apivalidation.ValidateServiceAccountName(p.id(), false))...)
		}
	}
	if a := s.ServiceAccount; a != nil && s.Kind == flowcontrolv1.SubjectKindServiceAccount {
		at := path.Child("serviceAccount", "namespace")
		if a.Namespace == "" {
			errs = append(errs, field.Required(at, "must specify namespace for service account"))
		} else {
			errs = append(errs, rules.Invalid(at, a.Namespace, apivalidation.ValidateNamespaceName(a.Namespace, false))...)
		}
	}
	return append(errs, forbidden...)
}
