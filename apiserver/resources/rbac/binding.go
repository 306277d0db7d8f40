package rbac

import (
	"context"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// RoleBinding gives subjects a role in a namespace.
var RoleBinding = resource.Define(resource.Kind[*rbacv1.RoleBinding]{
	Name:    resource.Name{Group: rbacv1.GroupName, Version: "v1", Kind: "RoleBinding", Plural: "rolebindings", Namespaced: true},
	List:    &rbacv1.RoleBindingList{},
	Store:   "rolebindings",
	Governs: true,
	Default: func(b *rbacv1.RoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) },
	Strategy: resource.Strategy[*rbacv1.RoleBinding]{
		Validate: func(_ context.Context, b *rbacv1.RoleBinding) field.ErrorList {
			return validateBinding(&b.RoleRef, b.Subjects, true)
		},
		ValidateUpdate: func(_ context.Context, b, old *rbacv1.RoleBinding) field.ErrorList {
			return append(validateBinding(&b.RoleRef, b.Subjects, true), rules.Immutable(field.NewPath("roleRef"), b.RoleRef, old.RoleRef)...)
		},
	},
	ValidateName:   rules.PathSegment,
	CreateOnUpdate: true,
	Columns:        columns(rbacv1beta1.RoleBinding{}.SwaggerDoc()["roleRef"], "roleBinding"),
	Row:            func(b *rbacv1.RoleBinding) []any { return row(b, &b.RoleRef, b.Subjects) },
})

// ClusterRoleBinding gives subjects a role everywhere.
var ClusterRoleBinding = resource.Define(resource.Kind[*rbacv1.ClusterRoleBinding]{
	Name:    resource.Name{Group: rbacv1.GroupName, Version: "v1", Kind: "ClusterRoleBinding", Plural: "clusterrolebindings"},
	List:    &rbacv1.ClusterRoleBindingList{},
	Store:   "clusterrolebindings",
	Governs: true,
	Default: func(b *rbacv1.ClusterRoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) },
	Strategy: resource.Strategy[*rbacv1.ClusterRoleBinding]{
		Validate: func(_ context.Context, b *rbacv1.ClusterRoleBinding) field.ErrorList {
			return validateBinding(&b.RoleRef, b.Subjects, false)
		},
		ValidateUpdate: func(_ context.Context, b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
			return append(validateBinding(&b.RoleRef, b.Subjects, false), rules.Immutable(field.NewPath("roleRef"), b.RoleRef, old.RoleRef)...)
		},
	},
	ValidateName:   rules.PathSegment,
	CreateOnUpdate: true,
	Columns:        columns(rbacv1beta1.ClusterRoleBinding{}.SwaggerDoc()["roleRef"], "clusterRoleBinding"),
	Row:            func(b *rbacv1.ClusterRoleBinding) []any { return row(b, &b.RoleRef, b.Subjects) },
})

// columns; the role's description is the older version's, as upstream shows it.
func columns(role, what string) []metav1.TableColumnDefinition {
	return []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Role", "string", role),
		resource.AgeColumn,
		resource.WideColumn("Users", "string", "Users in the "+what),
		resource.WideColumn("Groups", "string", "Groups in the "+what),
		resource.WideColumn("ServiceAccounts", "string", "ServiceAccounts in the "+what),
	}
}

func row(o metav1.Object, role *rbacv1.RoleRef, subjects []rbacv1.Subject) []any {
	var users, groups, accounts []string
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		}
	}
	return []any{o.GetName(), role.Kind + "/" + role.Name, resource.AgeOf(o), strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", ")}
}

func defaultBinding(role *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	if role.APIGroup == "" {
		role.APIGroup = rbacv1.GroupName
	}
	for i := range subjects {
		if s := &subjects[i]; s.APIGroup == "" && (s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind) {
			s.APIGroup = rbacv1.GroupName
		}
	}
}

func validateBinding(role *rbacv1.RoleRef, subjects []rbacv1.Subject, namespaced bool) field.ErrorList {
	path := field.NewPath("roleRef")
	kinds := []string{"ClusterRole"}
	if namespaced {
		kinds = []string{"Role", "ClusterRole"}
	}
	errs := rules.Among(path.Child("apiGroup"), role.APIGroup, rbacv1.GroupName)
	errs = append(errs, rules.Among(path.Child("kind"), role.Kind, kinds...)...)
	if role.Name != "" {
		errs = append(errs, rules.Invalid(path.Child("name"), role.Name, rules.PathSegment(role.Name, false))...)
	}
	var nameless field.ErrorList
	for i := range subjects {
		at := field.NewPath("subjects").Index(i)
		errs = append(errs, validateSubject(&subjects[i], namespaced, at)...)
		nameless = append(nameless, rules.Required(at.Child("name"), subjects[i].Name)...)
	}
	errs = append(errs, nameless...)
	return append(errs, rules.Required(path.Child("name"), role.Name)...)
}

func validateSubject(s *rbacv1.Subject, namespaced bool, path *field.Path) field.ErrorList {
	switch s.Kind {
	case rbacv1.UserKind, rbacv1.GroupKind:
		return rules.Among(path.Child("apiGroup"), s.APIGroup, rbacv1.GroupName)
	case rbacv1.ServiceAccountKind:
	default:
		return field.ErrorList{field.NotSupported(path.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind})}
	}
	var errs field.ErrorList
	if s.Name != "" {
		errs = append(errs, rules.Invalid(path.Child("name"), s.Name, apivalidation.ValidateServiceAccountName(s.Name, false))...)
	}
	errs = append(errs, rules.Among(path.Child("apiGroup"), s.APIGroup, "")...)
	if !namespaced {
		errs = append(errs, rules.Required(path.Child("namespace"), s.Namespace)...)
	}
	return errs
}
