package policy

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/registry"
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

// memory is what mutating policies keep between the two times that they may run for a write.
type memory struct {
	output runtime.Object // the object after they ran last
	before map[ran]bool   // those that ran and want to run again when somebody changes the object after them
	due    map[ran]bool   // those for which somebody did
}

const memoryName = "MutatingAdmissionPolicy"

// memoryOf gives the memory of a write.
func memoryOf(a *registry.Attributes) *memory {
	if a.Again == nil {
		a.Again = &registry.Again{}
	}
	if a.Again.Kept == nil {
		a.Again.Kept = map[string]any{}
	}
	m, ok := a.Again.Kept[memoryName].(*memory)
	if !ok {
		m = &memory{before: map[ran]bool{}, due: map[ran]bool{}}
		a.Again.Kept[memoryName] = m
	}
	return m
}

// changed makes everybody who ran before due.
func (m *memory) changed() {
	maps.Copy(m.due, m.before)
	clear(m.before)
}

// begin looks, the second time, whether somebody else changed the object in between.
func (m *memory) begin(a *registry.Attributes, obj runtime.Object) {
	if a.Again.Running && !equality.Semantic.DeepEqual(m.output, obj) {
		m.changed()
	}
}
