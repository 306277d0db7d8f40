package resourceclaim

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fieldManager owns the names of claims in pods' status.
const fieldManager = "ResourceClaimController"

// pods makes and reserves the claims of pods.
type pods struct {
	client client.Client
	events record.EventRecorder
}

// users maps a claim or a template to the pods that may wait for it.
func (r *pods) users(ctx context.Context, object client.Object) (requests []reconcile.Request) {
	var list corev1.PodList
	if err := r.client.List(ctx, &list, client.InNamespace(object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range list.Items {
		if len(list.Items[i].Spec.ResourceClaims) > 0 {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// Reconcile gives one pod its claims.
func (r *pods) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := r.client.Get(ctx, request.NamespacedName, pod); err != nil || pod.DeletionTimestamp != nil || Done(pod) {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	made := map[string]string{}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		claim, err := r.ensure(ctx, pod, entry)
		if err != nil {
			r.events.Event(pod, corev1.EventTypeWarning, "FailedResourceClaimCreation", fmt.Sprintf("PodResourceClaim %s: %v", entry.Name, err))
			return reconcile.Result{}, fmt.Errorf("pod %s/%s, PodResourceClaim %s: %w", pod.Namespace, pod.Name, entry.Name, err)
		}
		if claim != "" {
			made[entry.Name] = claim
		}
	}
	if len(made) > 0 {
		return reconcile.Result{}, r.note(ctx, pod, made) // which brings the pod here again
	}
	if pod.Spec.NodeName == "" {
		return reconcile.Result{}, nil // the scheduler reserves what it chooses
	}
	return reconcile.Result{}, r.reserve(ctx, pod)
}

// ensure makes the claim of one entry unless it is there. It gives the name that is to be noted.
func (r *pods) ensure(ctx context.Context, pod *corev1.Pod, entry *corev1.PodResourceClaim) (string, error) {
	name, generated, known := Name(pod, entry)
	if !generated || (known && name == "") {
		return "", nil
	}
	if known {
		claim := &resourcev1.ResourceClaim{}
		err := r.client.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: name}, claim)
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("checking claim existence: %w", err)
		}
		if err == nil && IsFor(pod, claim) {
			return "", nil
		}
	}
	if entry.ResourceClaimTemplateName == nil {
		return "", nil
	}
	var claims resourcev1.ResourceClaimList
	if err := r.client.List(ctx, &claims, client.InNamespace(pod.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("finding ResourceClaim for claim %s in pod %s/%s failed: %w", entry.Name, pod.Namespace, pod.Name, err)
	}
	if claim := Find(pod, entry.Name, claims.Items); claim != nil {
		return claim.Name, nil
	}
	template := &resourcev1.ResourceClaimTemplate{}
	if err := r.client.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: *entry.ResourceClaimTemplateName}, template); err != nil {
		return "", fmt.Errorf("resource claim template %q: %w", *entry.ResourceClaimTemplateName, err)
	}
	claim := Make(pod, entry.Name, template)
	if err := r.client.Create(ctx, claim); err != nil {
		return "", fmt.Errorf("create ResourceClaim %s: %w", claim.Name, err)
	}
	return claim.Name, nil
}

// note writes names of claims into the pod's status.
func (r *pods) note(ctx context.Context, pod *corev1.Pod, made map[string]string) error {
	status := corev1ac.PodStatus()
	for _, s := range Noted(pod, made) {
		status.WithResourceClaimStatuses(corev1ac.PodResourceClaimStatus().WithName(s.Name).WithResourceClaimName(*s.ResourceClaimName))
	}
	err := r.client.Status().Apply(ctx, corev1ac.Pod(pod.Name, pod.Namespace).WithStatus(status), client.FieldOwner(fieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("update pod %s/%s ResourceClaimStatuses: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// reserve reserves what a pod needs that somebody else than the scheduler put on a node.
func (r *pods) reserve(ctx context.Context, pod *corev1.Pod) error {
	for i := range pod.Spec.ResourceClaims {
		name, generated, known := Name(pod, &pod.Spec.ResourceClaims[i])
		if !known || name == "" {
			continue
		}
		claim := &resourcev1.ResourceClaim{}
		switch err := r.client.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: name}, claim); {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("retrieve claim: %w", err)
		case generated && !IsFor(pod, claim):
			return fmt.Errorf("ResourceClaim %s/%s was not created for pod %s/%s (pod is not owner)", claim.Namespace, claim.Name, pod.Namespace, pod.Name)
		}
		reservation := Reservation(pod, claim)
		if reservation == nil {
			continue
		}
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, *reservation)
		if err := r.client.Status().Update(ctx, claim); err != nil {
			return fmt.Errorf("reserve claim %s: %w", claim.Name, err)
		}
	}
	return nil
}
