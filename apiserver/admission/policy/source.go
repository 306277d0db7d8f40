package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/admission/review"
	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// hook is a policy in force, and what puts it there.
type hook[E any] struct {
	name, version string
	params        *admissionv1.ParamKind
	constraints   review.Constraints
	// broken constraints are an error for every write.
	broken   error
	bindings []binding
	// evaluator is the policy compiled.
	evaluator E
}

// binding puts a policy into force.
type binding struct {
	name    string
	params  *admissionv1.ParamRef
	actions []admissionv1.ValidationAction
	// constraints narrow the policy's; nil: they don't.
	constraints *review.Constraints
	broken      error
}

// source gives the policies in force. It reads them from the cache when something changed.
type source[E any] struct {
	policies, bindings *cache.Collection
	// readPolicy compiles a policy; readBinding also names the policy that is bound.
	readPolicy  func(obj runtime.Object) hook[E]
	readBinding func(obj runtime.Object) (policy string, b binding)

	mu      sync.Mutex
	current atomic.Pointer[inForce[E]]
}

// inForce is what was read at some numbers of changes.
type inForce[E any] struct {
	policies, bindings int64
	hooks              []*hook[E]
}

// hooks gives the policies that have bindings, by name.
func (s *source[E]) hooks() ([]*hook[E], error) {
	if c := s.valid(); c != nil {
		return c.hooks, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.valid(); c != nil {
		return c.hooks, nil
	}
	next := &inForce[E]{policies: s.policies.Changes(), bindings: s.bindings.Changes()}
	bound, err := s.readBindings()
	if err != nil {
		return nil, err
	}
	if len(bound) > 0 {
		if next.hooks, err = s.readPolicies(bound); err != nil {
			return nil, err
		}
	}
	s.current.Store(next)
	return next.hooks, nil
}

// valid gives what was read, if nothing changed since.
func (s *source[E]) valid() *inForce[E] {
	c := s.current.Load()
	if c == nil || c.policies != s.policies.Changes() || c.bindings != s.bindings.Changes() {
		return nil
	}
	return c
}

func (s *source[E]) readBindings() (map[string][]binding, error) {
	bound := map[string][]binding{}
	err := each(s.bindings, func(obj resource.Object) {
		policy, b := s.readBinding(obj)
		b.name = obj.GetName()
		bound[policy] = append(bound[policy], b)
	})
	return bound, err
}

// readPolicies compiles the policies that are bound. What is compiled already stays.
func (s *source[E]) readPolicies(bound map[string][]binding) ([]*hook[E], error) {
	known := map[string]*hook[E]{}
	if c := s.current.Load(); c != nil {
		for _, h := range c.hooks {
			known[h.name+"/"+h.version] = h
		}
	}
	var hooks []*hook[E]
	err := each(s.policies, func(obj resource.Object) {
		bindings := bound[obj.GetName()]
		if len(bindings) == 0 {
			return
		}
		// A policy of the same generation has the same spec.
		version := fmt.Sprint(obj.GetUID(), "/", obj.GetGeneration())
		h := hook[E]{}
		if k := known[obj.GetName()+"/"+version]; k != nil {
			h = *k
		} else {
			h = s.readPolicy(obj)
			h.name, h.version = obj.GetName(), version
		}
		h.bindings = bindings
		hooks = append(hooks, &h)
	})
	slices.SortFunc(hooks, func(a, b *hook[E]) int { return strings.Compare(a.name, b.name) })
	return hooks, err
}

// each calls f with a collection's objects, by name.
func each(c *cache.Collection, f func(obj resource.Object)) error {
	var failed error
	c.Snapshot().Ascend(c.Prefix(), c.Prefix(), func(e *cache.Entry) bool {
		obj, err := e.Object()
		if err != nil {
			failed = fmt.Errorf("read %s: %w", e.Key, err)
			return false
		}
		f(obj.(resource.Object))
		return true
	})
	return failed
}

// constraintsOf reads constraints; those of before a rule came may lack what it demands.
func constraintsOf(m *admissionv1.MatchResources) (review.Constraints, error) {
	switch {
	case m == nil:
		return review.Constraints{}, errors.New("policy contained no match constraints, a required field")
	case m.NamespaceSelector == nil:
		return review.Constraints{}, errors.New("a nil namespace selector was passed, please ensure selectors are initialized properly")
	case m.ObjectSelector == nil:
		return review.Constraints{}, errors.New("a nil object selector was passed, please ensure selectors are initialized properly")
	}
	return review.ConstraintsOf(m), nil
}

// bindingOf reads a binding's constraints.
func bindingOf(params *admissionv1.ParamRef, m *admissionv1.MatchResources) binding {
	b := binding{params: params}
	if m == nil {
		return b
	}
	c, err := constraintsOf(m)
	b.constraints, b.broken = &c, err
	return b
}
