package policy

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// ran is a policy with a binding and a parameter object, as it ran.
type ran struct{ policy, binding, paramNamespace, param string }

func ranOf(policy, binding string, param runtime.Object) ran {
	r := ran{policy: policy, binding: binding}
	if m, err := meta.Accessor(param); param != nil && err == nil {
		r.paramNamespace, r.param = m.GetNamespace(), m.GetName()
	}
	return r
}
