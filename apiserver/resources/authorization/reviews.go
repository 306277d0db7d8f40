package authorization

import (
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

func name(kind, plural string, namespaced bool) resource.Name {
	return resource.Name{Group: "authorization.k8s.io", Version: "v1", Kind: kind, Plural: plural, Namespaced: namespaced}
}

// Questions about what a user may do: any user, one in a namespace, oneself, and all that oneself may.
var (
	SubjectAccessReview      = resource.DefineQuestion[*authorizationv1.SubjectAccessReview](name("SubjectAccessReview", "subjectaccessreviews", false))
	LocalSubjectAccessReview = resource.DefineQuestion[*authorizationv1.LocalSubjectAccessReview](name("LocalSubjectAccessReview", "localsubjectaccessreviews", true))
	SelfSubjectAccessReview  = resource.DefineQuestion[*authorizationv1.SelfSubjectAccessReview](name("SelfSubjectAccessReview", "selfsubjectaccessreviews", false))
	SelfSubjectRulesReview   = resource.DefineQuestion[*authorizationv1.SelfSubjectRulesReview](name("SelfSubjectRulesReview", "selfsubjectrulesreviews", false))
)
