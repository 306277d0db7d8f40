package certificates

import (
	"crypto/x509"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
)

// attempt is a right by which a request may be approved: that of creating the subresource.
type attempt struct{ subresource, message string }

// attempts lists the rights by which a request may be approved without anybody looking at it, in the order in which they
// are tried: a node's own client certificate, by the node itself or by somebody who may ask for any node's.
func attempts(csr *certificatesv1.CertificateSigningRequest, request *x509.CertificateRequest) (out []attempt) {
	if csr.Spec.SignerName != certificatesv1.KubeAPIServerClientKubeletSignerName || judgeNode(&csr.Spec, request) != nil {
		return nil
	}
	if csr.Spec.Username == request.Subject.CommonName {
		out = append(out, attempt{"selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."})
	}
	return append(out, attempt{"nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."})
}

// review asks whether who made the request has the right.
func review(csr *certificatesv1.CertificateSigningRequest, subresource string) *authorizationv1.SubjectAccessReview {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range csr.Spec.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: csr.Spec.Username, UID: csr.Spec.UID, Groups: csr.Spec.Groups, Extra: extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: certificatesv1.GroupName, Resource: "certificatesigningrequests", Verb: "create", Subresource: subresource, Version: "*"}}}
}
