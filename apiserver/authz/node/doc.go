// Package node decides what kubelets may do: what a node's work needs, and of Secrets, ConfigMaps, claims and volumes those alone that
// pods on the node use. A kubelet is a user "system:node:NAME" in the group system:nodes.
package node
