package namespace

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Report is what a pass found in a namespace.
type Report struct {
	// DiscoveryError says that not every resource could be found out about.
	DiscoveryError error
	// GroupErrors are served group-versions whose names make no sense.
	GroupErrors []error
	// ContentErrors are failures to delete or list, and objects left without a reason.
	ContentErrors []error
	// Remaining counts the objects left of each resource that has any.
	Remaining map[schema.GroupVersionResource]int
	// Finalizers counts the objects left that each finalizer holds.
	Finalizers map[string]int
}

// NewReport is a report of nothing.
func NewReport() *Report {
	return &Report{Remaining: map[schema.GroupVersionResource]int{}, Finalizers: map[string]int{}}
}

// Count takes the objects that are left of one resource after their deletion was asked
// for. Objects with finalizers are waited for; so are objects that may still use up the
// given grace; others should have gone, and are reported.
func (r *Report) Count(namespace string, resource schema.GroupVersionResource, left []metav1.PartialObjectMetadata, grace time.Duration) {
	if len(left) == 0 {
		return
	}
	r.Remaining[resource] = len(left)
	held := false
	for i := range left {
		for _, finalizer := range left[i].Finalizers {
			r.Finalizers[finalizer]++
			held = true
		}
	}
	if !held && grace <= 0 {
		r.ContentErrors = append(r.ContentErrors,
			fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %v", namespace, resource))
	}
}

// Empty says that everything was seen and nothing is left.
func (r *Report) Empty() bool {
	return r.DiscoveryError == nil && len(r.GroupErrors) == 0 && len(r.ContentErrors) == 0 && len(r.Remaining) == 0
}

// Grace is how long the pods of a namespace may still take to end, sinceDeletion after
// the namespace was deleted: the longest of their own graces, less that.
func Grace(pods []corev1.Pod, sinceDeletion time.Duration) time.Duration {
	var longest time.Duration
	for i := range pods {
		if podstate.Finished(&pods[i]) || pods[i].Spec.TerminationGracePeriodSeconds == nil {
			continue
		}
		longest = max(longest, time.Duration(*pods[i].Spec.TerminationGracePeriodSeconds)*time.Second)
	}
	return max(0, longest-sinceDeletion)
}

// Delay is how long to wait for the next look, the longer the longer it takes already:
// most namespaces are empty at once, and one that isn't after an hour is stuck.
func Delay(sinceDeletion time.Duration) time.Duration {
	return min(max(sinceDeletion/4, 100*time.Millisecond), 10*time.Second)
}

// finalized says that this controller has nothing to do with the namespace any more.
func finalized(namespace *corev1.Namespace) bool {
	for _, finalizer := range namespace.Spec.Finalizers {
		if finalizer == corev1.FinalizerKubernetes {
			return false
		}
	}
	return true
}
