package serviceaccount

import corev1 "k8s.io/api/core/v1"

// defaultName is the ServiceAccount that every namespace has.
const defaultName = "default"

// Needed says whether the account is to be made, given whether there is one.
func Needed(namespace *corev1.Namespace, found bool) bool {
	return !found && namespace.Status.Phase == corev1.NamespaceActive
}
