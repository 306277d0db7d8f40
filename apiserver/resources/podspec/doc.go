// Package podspec holds what every kind with pods in it shares: defaults, validation and the hints of a
// pod's spec.
//
// Rules are those of the API reference (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/).
// All functions are pure.
//
// Next: apiserver/resources/core
package podspec
