// Package certificates holds the kinds of the group certificates.k8s.io: requests for certificates and
// the bundles that certificates are trusted by.
//
// Next: apiserver/resources/flowcontrol
package certificates
