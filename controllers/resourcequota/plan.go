package resourcequota

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kogge-dev/kogge/internal/quota"
)

// zero is how an amount of nothing is written.
var zero = resource.Quantity{Format: resource.DecimalSI}

// Count adds up what those of a resource's objects that are in the quota's scopes use, under
// the names that the quota bounds. A name that none uses is zero.
func Count(spec *corev1.ResourceQuotaSpec, evaluator quota.Evaluator, objects []runtime.Object, now time.Time) corev1.ResourceList {
	names := evaluator.Counted(quota.Names(spec.Hard))
	used := corev1.ResourceList{}
	for _, name := range names {
		used[name] = zero
	}
	for _, object := range objects {
		// A scope that can't be read has been refused by the API server.
		if within, err := evaluator.InScope(spec, object); err == nil && within {
			used = quota.Add(used, quota.Mask(evaluator.Usage(object, now), names))
		}
	}
	return used
}

// Status is what the quota shall show. Of names that couldn't be counted the former amounts
// stay.
func Status(q *corev1.ResourceQuota, counted corev1.ResourceList) corev1.ResourceQuotaStatus {
	names := quota.Names(q.Spec.Hard)
	used := quota.Mask(q.Status.Used, names)
	for name, amount := range counted {
		used[name] = amount
	}
	return corev1.ResourceQuotaStatus{Hard: q.Spec.Hard.DeepCopy(), Used: quota.Mask(used, names)}
}

// stale says that a quota's status must be written.
func stale(present, wanted corev1.ResourceQuotaStatus) bool {
	return present.Hard == nil || present.Used == nil ||
		!apiequality.Semantic.DeepEqual(present.Hard, wanted.Hard) || !quota.Equal(present.Used, wanted.Used)
}

// matters says that a change of an object, from before to after (either may be nil), changes
// what it uses of a quota.
func matters(spec *corev1.ResourceQuotaSpec, evaluator quota.Evaluator, before, after runtime.Object, now time.Time) bool {
	used := func(object runtime.Object) corev1.ResourceList {
		if object == nil {
			return Count(spec, evaluator, nil, now)
		}
		return Count(spec, evaluator, []runtime.Object{object}, now)
	}
	return !quota.Equal(used(before), used(after))
}
