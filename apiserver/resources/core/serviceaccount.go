package core

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// ServiceAccount is who a pod is to the API.
var ServiceAccount = resource.Define(resource.Kind[*corev1.ServiceAccount]{
	Name:  resource.Name{Version: "v1", Kind: "ServiceAccount", Plural: "serviceaccounts", Short: []string{"sa"}, Namespaced: true},
	List:  &corev1.ServiceAccountList{},
	Store: "serviceaccounts",
	Subresources: []resource.Subresource{{Name: "token", Verbs: []string{"create"},
		GVK: authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")}},
	ValidateName:  apivalidation.ValidateServiceAccountName,
	ReturnDeleted: true,
	Columns:       []metav1.TableColumnDefinition{resource.NameColumn, resource.AgeColumn},
	Row:           func(s *corev1.ServiceAccount) []any { return []any{s.Name, resource.AgeOf(s)} },
})
