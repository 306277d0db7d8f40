// Package rootca puts the API server's CA bundle into every namespace, as ConfigMap
// kube-root-ca.crt: the projected volumes that carry a pod's token take it from there.
//
// Promises: whatever is done to the ConfigMap, its content is soon the bundle again.
//
//	wanted, change := rootca.Wanted(current, pem)
//
// Next: controllers/namespace.
package rootca
