package authentication

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// TokenReview asks who a token is.
var TokenReview = resource.DefineQuestion[*authenticationv1.TokenReview](resource.Name{
	Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview", Plural: "tokenreviews"})

// SelfSubjectReview asks who oneself is.
var SelfSubjectReview = resource.DefineQuestion[*authenticationv1.SelfSubjectReview](resource.Name{
	Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview", Plural: "selfsubjectreviews"})
