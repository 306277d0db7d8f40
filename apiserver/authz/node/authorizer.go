package node

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/request"
)

const (
	group      = "system:nodes"
	userPrefix = "system:node:"
)

// Authorizer decides about kubelets; of others it has no opinion.
type Authorizer struct {
	// Pods gives the pods of a node.
	Pods func(node string) []*corev1.Pod
	// Claim gives a claim's volume; empty: it has none.
	Claim func(namespace, name string) (volume string)
}

// access are verbs on a resource that every kubelet has.
var access = map[string][]string{
	"authentication.k8s.io/tokenreviews":             {"create"},
	"authorization.k8s.io/localsubjectaccessreviews": {"create"},
	"authorization.k8s.io/subjectaccessreviews":      {"create"},
	"/services":                        {"get", "list", "watch"},
	"/nodes":                           {"create", "get", "list", "watch", "patch", "update"},
	"/nodes/status":                    {"patch", "update"},
	"/events":                          {"create", "patch", "update"},
	"events.k8s.io/events":             {"create", "patch", "update"},
	"/pods":                            {"get", "list", "watch", "create", "delete"},
	"/pods/status":                     {"patch", "update"},
	"/pods/eviction":                   {"create"},
	"/endpoints":                       {"get"},
	"storage.k8s.io/volumeattachments": {"get"},
	"storage.k8s.io/csidrivers":        {"get", "list", "watch"},
	"node.k8s.io/runtimeclasses":       {"get", "list", "watch"},
	"resource.k8s.io/resourceclaims":   {"get"},
	"resource.k8s.io/resourceslices":   {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
	"certificates.k8s.io/certificatesigningrequests": {"create", "get", "list", "watch"},
	"certificates.k8s.io/clustertrustbundles":        {"get", "list", "watch"},
	"certificates.k8s.io/podcertificaterequests":     {"create", "get", "list", "watch"},
}

// Authorize says whether a kubelet may, and else why not.
func (a Authorizer) Authorize(u *request.User, i *request.Info) (bool, string) {
	name, ok := strings.CutPrefix(u.Name, userPrefix)
	if !ok || !slices.Contains(u.Groups, group) || !i.IsResource {
		return false, ""
	}
	key := i.Group + "/" + i.Resource
	if i.Subresource != "" {
		key += "/" + i.Subresource
	}
	switch key {
	case "/secrets", "/configmaps":
		if !slices.Contains([]string{"get", "list", "watch"}, i.Verb) {
			return false, "can only read resources of this type"
		}
		return a.related(name, i)
	case "/persistentvolumeclaims", "/persistentvolumes":
		if i.Verb != "get" {
			return false, "can only get individual resources of this type"
		}
		return a.related(name, i)
	case "/persistentvolumeclaims/status":
		if !slices.Contains([]string{"get", "update", "patch"}, i.Verb) {
			return false, "can only get, update, or patch individual resources of this type"
		}
		return a.related(name, i)
	case "/serviceaccounts", "/serviceaccounts/token":
		if want := map[string]string{"/serviceaccounts": "get", "/serviceaccounts/token": "create"}[key]; i.Verb != want {
			return false, "can only " + want + " individual resources of this type"
		}
		return a.related(name, i)
	case "coordination.k8s.io/leases":
		if i.Namespace != corev1.NamespaceNodeLease {
			return false, fmt.Sprintf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
		}
		return own(name, i, "can only access node lease with the same name as the requesting node")
	case "storage.k8s.io/csinodes":
		return own(name, i, "can only access CSINode with the same name as the requesting node")
	}
	return slices.Contains(access[key], i.Verb), ""
}

// own allows what has the node's name, and its creation, when it has none yet.
func own(name string, i *request.Info, refusal string) (bool, string) {
	if !slices.Contains([]string{"get", "create", "update", "patch", "delete"}, i.Verb) {
		return false, "can only get, create, update, patch, or delete individual resources of this type"
	}
	if i.Name != name && (i.Verb != "create" || i.Name != "") {
		return false, refusal
	}
	return true, ""
}

// related allows what a pod on the node uses.
func (a Authorizer) related(name string, i *request.Info) (bool, string) {
	if i.Name == "" {
		return false, "No Object name found"
	}
	for _, p := range a.Pods(name) {
		if (i.Namespace == "" || p.Namespace == i.Namespace) && a.uses(p, i.Resource, i.Name) {
			return true, ""
		}
	}
	return false, fmt.Sprintf("no relationship found between node '%s' and this object", name)
}
