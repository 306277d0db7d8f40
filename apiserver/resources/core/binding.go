package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Binding assigns a pod to a node, by the old way: the collection rather than the pod's own endpoint.
var Binding = resource.DefineQuestion[*corev1.Binding](resource.Name{Version: "v1", Kind: "Binding", Plural: "bindings", Namespaced: true})
