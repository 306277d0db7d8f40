package review

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// Memory is what a mutating plugin keeps between the two times that it may run for a write: who ran, and who is to run
// again because somebody changed the object since. Who is told apart by anything comparable.
type Memory struct {
	output runtime.Object // the object after they ran last
	before map[any]bool   // those that ran and want to see what others change after them
	due    map[any]bool   // those for which somebody did
}

// Memory of a plugin for the write.
func (s *Subject) Memory(plugin string) *Memory {
	if s.Again == nil {
		s.Again = &registry.Again{}
	}
	if s.Again.Kept == nil {
		s.Again.Kept = map[string]any{}
	}
	m, ok := s.Again.Kept[plugin].(*Memory)
	if !ok {
		m = &Memory{before: map[any]bool{}, due: map[any]bool{}}
		s.Again.Kept[plugin] = m
	}
	return m
}

// Begin looks, the second time, whether others changed the object in between.
func (m *Memory) Begin(s *Subject) {
	if s.Again.Running && !equality.Semantic.DeepEqual(m.output, s.object()) {
		m.remind()
	}
}

// End remembers how the object is now.
func (m *Memory) End(s *Subject) {
	m.output = nil
	if obj := s.object(); obj != nil {
		m.output = obj.DeepCopyObject()
	}
}

// May says whether somebody may run now: everybody the first time, who is due the second time.
func (m *Memory) May(s *Subject, who any) bool { return !s.Again.Running || m.due[who] }

// Changed notes that the object was changed: who ran before is due, and there is to be a second time.
func (m *Memory) Changed(s *Subject) {
	m.remind()
	s.Again.Wanted = true
}

func (m *Memory) remind() {
	maps.Copy(m.due, m.before)
	clear(m.before)
}

// Ran notes that somebody ran who wants to see what others change.
func (m *Memory) Ran(who any) { m.before[who] = true }
