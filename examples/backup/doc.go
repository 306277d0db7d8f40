// Package backup is an example: an operator, and its suite run in three ways.
//
// The operator (api/v1, api/v1beta1, webhooks, controller, put together in operator) is made as kubebuilder makes them: two versions of a kind
// with a conversion webhook, defaults and validation in webhooks, a reconciler that owns what it makes, conditions, a finalizer. Its suite
// is package suite. These run it:
//
//   - binaries: controller-runtime's envtest, with our binary in the place of etcd's and kube-apiserver's;
//   - library: our envtest, by the same file with another import path;
//   - whole: a cluster with controllers and simulated nodes, where what is owned is collected, namespaces go, and pods run.
//
// docs/testing.md tells about them.
package backup
