package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kogge-dev/kogge/apiserver/authz"
	"github.com/kogge-dev/kogge/apiserver/authz/node"
	"github.com/kogge-dev/kogge/apiserver/authz/rbac"
	"github.com/kogge-dev/kogge/apiserver/registry"
)

// authorize makes the authorizer of the modes that are asked for.
func (s *Server) authorize() error {
	if len(s.options.AuthorizationModes) == 0 {
		s.authz = authz.Authenticated{}
		return nil
	}
	union := authz.Union{authz.Masters{}}
	for _, mode := range s.options.AuthorizationModes {
		switch mode {
		case "Node":
			union = append(union, node.Authorizer{Pods: s.podsOf, Claim: s.volumeOf})
		case "RBAC":
			s.rbac = rbac.New(rbac.Options{
				ClusterRoles: s.cache.Collection("/registry/clusterroles/"), ClusterRoleBindings: s.cache.Collection("/registry/clusterrolebindings/"),
				Roles: s.cache.Collection("/registry/roles/"), RoleBindings: s.cache.Collection("/registry/rolebindings/"),
			})
			union = append(union, s.rbac)
		case "AlwaysAllow":
			union = append(union, authz.Authenticated{})
		default:
			return fmt.Errorf("authorization-mode %q is not supported: Node, RBAC and AlwaysAllow are", mode)
		}
	}
	s.authz = union
	return nil
}

// podsOf gives the pods of a node.
func (s *Server) podsOf(name string) []*corev1.Pod {
	reg, err := objects{s.handlers}.registry("", "pods")
	if err != nil {
		return nil
	}
	list, err := reg.List(context.Background(), "", &internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", name)})
	if err != nil {
		s.log.Warn("the pods of a node that asks for something", "node", name, "error", err)
		return nil
	}
	var out []*corev1.Pod
	for _, e := range list.Entries {
		if o, err := reg.Object(&registry.Result{Entry: e}); err == nil {
			out = append(out, o.(*corev1.Pod))
		}
	}
	return out
}

// volumeOf gives the volume that a claim is bound to.
func (s *Server) volumeOf(namespace, name string) string {
	o, err := objects{s.handlers}.Get("", "persistentvolumeclaims", namespace, name)
	if err != nil {
		return ""
	}
	return o.(*corev1.PersistentVolumeClaim).Spec.VolumeName
}
