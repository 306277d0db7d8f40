package review

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Constraints select writes: by rules, by labels of the namespace and of the object.
type Constraints struct {
	Rules, Exclude Rules
	// All: without rules, everything is selected.
	All               bool
	Namespace, Object labels.Selector
	// Invalid selectors are found when a write is selected by the rest.
	Invalid error
}

// ConstraintsOf reads a policy's or a binding's constraints.
func ConstraintsOf(m *admissionv1.MatchResources) Constraints {
	exact := m.MatchPolicy == nil || *m.MatchPolicy == admissionv1.Exact
	c := Constraints{Rules: Rules{m.ResourceRules, exact}, Exclude: Rules{m.ExcludeResourceRules, exact}, All: len(m.ResourceRules) == 0}
	c.SetSelectors(m.NamespaceSelector, m.ObjectSelector)
	return c
}

// SetSelectors reads the label selectors.
func (c *Constraints) SetSelectors(namespace, object *metav1.LabelSelector) {
	for _, s := range []struct {
		from *metav1.LabelSelector
		to   *labels.Selector
	}{{namespace, &c.Namespace}, {object, &c.Object}} {
		parsed, err := metav1.LabelSelectorAsSelector(s.from)
		if err != nil {
			c.Invalid, parsed = apierrors.NewInternalError(err), labels.Everything()
		}
		*s.to = parsed
	}
}

// Match gives the resource in the version in which the constraints select it, or nil. An error of a selector counts only
// when everything else selects the write.
func (s *Subject) Match(ctx context.Context, c *Constraints) (*resource.Resource, error) {
	inNamespace, failed := s.matchNamespace(ctx, c.Namespace)
	if !inNamespace && failed == nil {
		return nil, nil
	}
	if !s.matchObject(c.Object) {
		return nil, nil
	}
	if s.Select(c.Exclude) != nil {
		return nil, nil
	}
	as := s.Resource
	if !c.All {
		if as = s.Select(c.Rules); as == nil {
			return nil, nil
		}
	}
	if failed == nil {
		failed = c.Invalid
	}
	if failed != nil {
		return nil, failed
	}
	return as, nil
}

// matchNamespace says whether the labels of the surrounding namespace, or of the namespace itself, are selected. What lies
// in no namespace always is.
func (s *Subject) matchNamespace(ctx context.Context, selector labels.Selector) (bool, error) {
	if s.NamespaceName() == "" && !s.isNamespace() {
		return true, nil
	}
	if selector.Empty() {
		return true, nil
	}
	if s.isNamespace() && s.Subresource == "" && (s.Operation == registry.Create || s.Operation == registry.Update) {
		return selector.Matches(labels.Set(s.Object.GetLabels())), nil
	}
	ns, err := s.World.Namespace(ctx, s.NamespaceName())
	if err != nil {
		if !apierrors.IsNotFound(err) {
			err = apierrors.NewInternalError(err)
		}
		return false, err
	}
	return selector.Matches(labels.Set(ns.Labels)), nil
}

// matchObject says whether the labels of the object, as it is or as it was, are selected.
func (s *Subject) matchObject(selector labels.Selector) bool {
	if selector.Empty() {
		return true
	}
	for _, obj := range []runtime.Object{s.object(), s.old()} {
		if obj == nil {
			continue
		}
		if m, err := meta.Accessor(obj); err == nil && selector.Matches(labels.Set(m.GetLabels())) {
			return true
		}
	}
	return false
}
