package rbac

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// policyJSON is made by `make generate` from a genuine server: an object a line.
//
//go:embed policy.json
var policyJSON []byte

// Policy gives the roles and bindings that every cluster begins with, as new objects.
func Policy() []resource.Object {
	all := policy()
	out := make([]resource.Object, len(all))
	for i, o := range all {
		out[i] = o.DeepCopyObject().(resource.Object)
	}
	return out
}

var policy = sync.OnceValue(func() []resource.Object {
	var out []resource.Object
	for line := range bytes.Lines(policyJSON) {
		o, err := decode(line)
		if err != nil {
			panic(fmt.Sprintf("the embedded roles: %v", err)) // they are a constant
		}
		out = append(out, o)
	}
	return out
})

func decode(line []byte) (resource.Object, error) {
	var kind struct{ Kind string }
	if err := json.Unmarshal(line, &kind); err != nil {
		return nil, err
	}
	var o resource.Object
	switch kind.Kind {
	case "ClusterRole":
		o = &rbacv1.ClusterRole{}
	case "ClusterRoleBinding":
		o = &rbacv1.ClusterRoleBinding{}
	case "Role":
		o = &rbacv1.Role{}
	case "RoleBinding":
		o = &rbacv1.RoleBinding{}
	default:
		return nil, fmt.Errorf("%q is no kind of policy", kind.Kind)
	}
	err := json.Unmarshal(line, o)
	resource.Untype(o)
	return o, err
}
