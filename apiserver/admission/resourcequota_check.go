package admission

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/internal/quota"
)

// charge gives the quotas as they are once the write has happened, or says why it may not.
// Those that the write doesn't touch are given back as they are; none is changed in place.
func charge(quotas []*corev1.ResourceQuota, a *registry.Attributes, now time.Time) ([]*corev1.ResourceQuota, error) {
	evaluator := quota.For(a.Resource.GR())
	concerned := make([]bool, len(quotas))
	for i, q := range quotas {
		var err error
		if concerned[i], err = concerns(evaluator, q, a); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(concerned, true) {
		return quotas, nil
	}
	usage := evaluator.Usage(a.Object, now)
	negative := quota.Select(usage, func(_ corev1.ResourceName, amount resource.Quantity) bool { return amount.Sign() < 0 })
	if len(negative) > 0 {
		return nil, refused(a, fmt.Errorf("quota usage is negative for resource(s): %s", quota.Join(negative)))
	}
	charged := slices.Clone(quotas)
	for i, q := range quotas {
		if !concerned[i] {
			continue
		}
		more, err := increase(evaluator, q, a, usage, now)
		if err != nil {
			return nil, err
		}
		if charged[i], err = add(q, more, a); err != nil {
			return nil, err
		}
	}
	return charged, nil
}

// concerns says that a quota bounds what the write's object uses. It is an error if the
// object doesn't say enough, or the quota hasn't been counted yet.
func concerns(evaluator quota.Evaluator, q *corev1.ResourceQuota, a *registry.Attributes) (bool, error) {
	within, err := evaluator.InScope(&q.Spec, a.Object)
	if err != nil {
		return false, fmt.Errorf("error matching scopes of quota %s, err: %w", q.Name, err)
	}
	names := evaluator.Counted(quota.Names(q.Status.Hard))
	if !within || len(names) == 0 {
		return false, nil
	}
	if err := evaluator.Demand(names, a.Object); err != nil {
		return false, refused(a, fmt.Errorf("failed quota: %s: %w", q.Name, err))
	}
	for _, name := range names {
		if _, known := q.Status.Used[name]; !known {
			return false, refused(a, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, quota.Join(names)))
		}
	}
	return true, nil
}

// increase is what the write adds to a quota: all of the object's usage if it is new, or
// new to the quota's scopes, else the difference.
func increase(evaluator quota.Evaluator, q *corev1.ResourceQuota, a *registry.Attributes, usage corev1.ResourceList, now time.Time) (corev1.ResourceList, error) {
	if a.Operation != registry.Update {
		return quota.Increase(nil, usage), nil
	}
	within, err := evaluator.InScope(&q.Spec, a.Old)
	if err != nil {
		return nil, fmt.Errorf("error matching scopes of quota %s, err: %w", q.Name, err)
	}
	if !within {
		return quota.Increase(nil, usage), nil
	}
	return quota.Increase(evaluator.Usage(a.Old, now), usage), nil
}

// add charges a quota. What a status says is a fact, which may go beyond the bounds.
func add(q *corev1.ResourceQuota, more corev1.ResourceList, a *registry.Attributes) (*corev1.ResourceQuota, error) {
	requested := quota.Mask(more, quota.Names(q.Status.Hard))
	if len(requested) == 0 {
		return q, nil
	}
	used := quota.Add(q.Status.Used, requested)
	exceeded := quota.Select(requested, func(name corev1.ResourceName, _ resource.Quantity) bool {
		amount, bound := used[name], q.Status.Hard[name]
		return amount.Cmp(bound) > 0
	})
	if len(exceeded) > 0 && a.Subresource != "status" {
		return nil, refused(a, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name,
			quota.Text(quota.Mask(requested, exceeded)), quota.Text(quota.Mask(q.Status.Used, exceeded)), quota.Text(quota.Mask(q.Status.Hard, exceeded))))
	}
	charged := q.DeepCopy()
	charged.Status.Used = used
	return charged, nil
}

func refused(a *registry.Attributes, why error) error {
	return apierrors.NewForbidden(a.Resource.GR(), a.Name, why)
}
