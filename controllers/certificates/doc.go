// Package certificates deals with CertificateSigningRequests: it approves those by which kubelets ask for their own
// client certificate, signs what was approved for the four signers of kubernetes.io, and removes what nobody needs any more.
//
// Promises: nothing is signed that was not approved, for a signer that is not ours, or that the signer's rules forbid;
// no certificate outlives the authority. Without an authority's key nothing is signed.
//
//	der, err := certificates.Sign(authority, request, spec, now)
//
// Next: controllers/rootca.
package certificates
