// Package admission decides whether a node takes a pod that was assigned to it.
//
// The scheduler decides with what it knows, and a pod may name its node itself; so the node looks again. Check is a
// pure function of the pod, the pods that the node has taken, and the node. Its texts are upstream's
// (pkg/kubelet/lifecycle/predicate.go): they become the reason and message of a failed pod.
//
//	if rejection := admission.Check(pod, others, node); rejection != nil { … }
package admission
