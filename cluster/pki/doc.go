// Package pki makes the certificates of a cluster: one certificate authority, the serving and client
// certificates that it signs, and the key that signs ServiceAccount tokens.
//
// All keys are ECDSA on P-256: an RSA key takes longer to make than the rest of a start. Everything is valid
// for ten years, since a local cluster has nobody who would renew it; the start of the validity lies an hour
// back, for machines whose clocks disagree. A CA is safe for concurrent use.
//
//	authority, err := pki.NewCA("kubernetes")
//	serving, err := authority.Server([]string{"localhost"}, []netip.Addr{netip.MustParseAddr("127.0.0.1")})
//	admin, err := authority.Client("kubernetes-admin", []string{"system:masters"})
//	certificate, err := serving.TLS()
//	kept, err := pki.LoadOrCreate("/var/lib/kogge/pki") // the same on the next start
package pki
