package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/negotiation"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

const (
	// maxDisrupted is how many evictions a budget may await; more, and its controller seems to be away.
	maxDisrupted = 2000
	// retryEviction is after how many seconds to ask again while the budget's controller is behind.
	retryEviction = 10
	violates      = "Cannot evict pod as it would violate the pod's disruption budget."
)

// errSeveralBudgets: a pod that more than one budget selects can't be evicted. It has no reason, as upstream.
var errSeveralBudgets = errors.New("this pod has more than one PodDisruptionBudget, which the eviction subresource does not support")

// evict deletes a pod if its disruption budget allows: API-initiated eviction, KEP-85.
func evict(w http.ResponseWriter, r *http.Request, s *Scope) {
	if r.Method != http.MethodPost {
		NotAllowed(w, r)
		return
	}
	out, err := negotiation.Negotiate(r, negotiation.Endpoint{})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), writeTimeout)
	defer cancel()
	options, err := s.evictionInput(r)
	if err == nil {
		err = s.evict(ctx, options)
	}
	if errors.Is(err, errSeveralBudgets) {
		status := &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}
		writeMeta(w, r, http.StatusInternalServerError, out, statusGVK, status)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeMeta(w, r, http.StatusCreated, out, statusGVK, &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated})
}

// evictionInput gives how the pod is to be deleted.
func (s *Scope) evictionInput(r *http.Request) (*metav1.DeleteOptions, error) {
	e, o, err := posted(s, r, &policyv1.Eviction{})
	if err != nil {
		return nil, err
	}
	if err := matchNamespace(s, e); err != nil {
		return nil, err
	}
	gate := s.gate(registry.Create, e, o, len(o.DryRun) > 0)
	if err := gate.mutate(r.Context()); err != nil {
		return nil, err
	}
	if e.Name != s.Info.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	if err := gate.judge(r.Context()); err != nil {
		return nil, err
	}
	options := e.DeleteOptions
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	switch {
	case len(options.DryRun) == 0:
		options.DryRun = o.DryRun
	case len(o.DryRun) > 0 && !slices.Equal(o.DryRun, options.DryRun):
		return nil, apierrors.NewBadRequest(fmt.Sprintf("Non-matching dry-run options in request and content: %v and %v", o.DryRun, options.DryRun))
	}
	return options, nil
}

// evict asks the pod's budget, unless none protects the pod, marks the pod and deletes it. What was decided about a pod that
// changes meanwhile is decided again.
func (s *Scope) evict(ctx context.Context, options *metav1.DeleteOptions) error {
	for {
		obj, err := s.handlers.read(ctx, "pods", s.Info.Namespace, s.Info.Name)
		if err != nil {
			return err
		}
		pod := obj.(*corev1.Pod)
		asSeen, err := s.askBudget(ctx, pod, len(options.DryRun) > 0)
		if err != nil {
			return err
		}
		err = s.deleteEvicted(ctx, pod, options.DeepCopy(), asSeen)
		if asSeen && options.Preconditions == nil && apierrors.IsConflict(err) && ctx.Err() == nil {
			continue
		}
		return err
	}
}

// askBudget takes one disruption from the pod's budget. asSeen: none was taken because of how the pod is now, so only the pod
// as it is may go.
func (s *Scope) askBudget(ctx context.Context, pod *corev1.Pod, dryRun bool) (asSeen bool, err error) {
	if pod.DeletionTimestamp != nil {
		return false, nil
	}
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true, nil
	}
	budgets := s.handlers.Registry(policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets"))
	budget, err := budgetOf(ctx, budgets, pod)
	if err != nil || budget == nil {
		return false, err
	}
	if disruptsNothing(budget, pod) {
		return true, nil
	}
	o := registry.UpdateOptions{WriteOptions: registry.WriteOptions{DryRun: dryRun}, Hooks: &resource.Hooks{}, UID: budget.UID}
	_, err = budgets.Update(ctx, budget.Namespace, budget.Name, func(_ context.Context, current resource.Object, _ bool) (resource.Object, error) {
		b := current.(*policyv1.PodDisruptionBudget)
		return b, spend(b, pod.Name, metav1.NewTime(budgets.Now()))
	}, o)
	return false, err
}

// budgetOf finds the one budget that selects the pod, if any.
func budgetOf(ctx context.Context, budgets *registry.Registry, pod *corev1.Pod) (*policyv1.PodDisruptionBudget, error) {
	l, err := budgets.List(ctx, pod.Namespace, &internalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	var found *policyv1.PodDisruptionBudget
	for _, e := range l.Entries {
		obj, err := budgets.Object(&registry.Result{Entry: e})
		if err != nil {
			return nil, err
		}
		b := obj.(*policyv1.PodDisruptionBudget)
		if sel, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err != nil || !sel.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if found != nil {
			return nil, errSeveralBudgets
		}
		found = b
	}
	return found, nil
}

// disruptsNothing: the pod is not ready, and the budget lets such pods go: always, or while enough others are healthy.
func disruptsNothing(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return false
		}
	}
	if ptr.Deref(b.Spec.UnhealthyPodEvictionPolicy, policyv1.IfHealthyBudget) == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// spend takes one disruption from a budget, or says why there is none.
func spend(b *policyv1.PodDisruptionBudget, pod string, now metav1.Time) error {
	st := &b.Status
	gr := policyv1.Resource("poddisruptionbudget")
	switch {
	case st.ObservedGeneration < b.Generation:
		return tooMany(retryEviction, "The disruption budget %s is still being processed by the server.", b.Name)
	case st.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(gr, b.Name, errors.New("pdb disruptions allowed is negative"))
	case len(st.DisruptedPods) > maxDisrupted:
		return apierrors.NewForbidden(gr, b.Name, errors.New("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
	case st.DisruptionsAllowed == 0:
		if c := meta.FindStatusCondition(st.Conditions, policyv1.DisruptionAllowedCondition); c != nil && c.Status == metav1.ConditionFalse && c.Reason == policyv1.SyncFailedReason {
			return tooMany(0, "The disruption budget %s does not allow evicting pods currently because it failed sync: %v", b.Name, c.Message)
		}
		return tooMany(0, "The disruption budget %s needs %d healthy pods and has %d currently", b.Name, st.DesiredHealthy, st.CurrentHealthy)
	}
	st.DisruptionsAllowed--
	if st.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&st.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
			Reason: policyv1.InsufficientPodsReason, ObservedGeneration: st.ObservedGeneration})
	}
	if st.DisruptedPods == nil {
		st.DisruptedPods = map[string]metav1.Time{}
	}
	st.DisruptedPods[pod] = now
	return nil
}

func tooMany(retryAfter int, format string, args ...any) error {
	err := apierrors.NewTooManyRequests(violates, retryAfter)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: fmt.Sprintf(format, args...)})
	return err
}

// deleteEvicted sets the pod's condition DisruptionTarget, by which its owner knows why it went, and deletes it.
func (s *Scope) deleteEvicted(ctx context.Context, pod *corev1.Pod, options *metav1.DeleteOptions, asSeen bool) error {
	if options.Preconditions == nil {
		options.Preconditions = &metav1.Preconditions{}
	}
	p := options.Preconditions
	if asSeen && p.ResourceVersion == nil {
		p.ResourceVersion = &pod.ResourceVersion
	}
	if p.UID == nil {
		p.UID = &pod.UID
	}
	dryRun := len(options.DryRun) > 0
	if !dryRun {
		res, err := s.Registry.Update(ctx, pod.Namespace, pod.Name, func(_ context.Context, current resource.Object, _ bool) (resource.Object, error) {
			if err := registry.CheckPreconditions(s.Resource, current, options); err != nil {
				return nil, err
			}
			return setEvicted(current.(*corev1.Pod), metav1.NewTime(s.Registry.Now())), nil
		}, registry.UpdateOptions{Hooks: &resource.Hooks{}})
		if err != nil {
			return err
		}
		if p.ResourceVersion != nil {
			p.ResourceVersion = ptr.To(res.Object.GetResourceVersion())
		}
	}
	_, err := s.Registry.DeleteAsked(ctx, pod.Namespace, pod.Name, options, dryRun, registry.Otherwise)
	return err
}

func setEvicted(pod *corev1.Pod, now metav1.Time) *corev1.Pod {
	want := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting", LastTransitionTime: now}
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == want.Type })
	if i < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, want)
		return pod
	}
	if pod.Status.Conditions[i].Status == want.Status {
		want.LastTransitionTime = pod.Status.Conditions[i].LastTransitionTime
	}
	pod.Status.Conditions[i] = want
	return pod
}
