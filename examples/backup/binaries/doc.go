// Package backup runs the operator's suite by controller-runtime's envtest, with this test's binary in the place of etcd's and
// kube-apiserver's, or with the binaries that KUBEBUILDER_ASSETS names.
package backup
