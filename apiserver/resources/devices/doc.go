// Package devices holds the kinds of the group resource.k8s.io: classes of devices, claims on them and templates
// of claims, what drivers offer on nodes, and taints on devices. The server keeps and judges them; it allocates
// nothing.
//
// Next: apiserver/resource
package devices
