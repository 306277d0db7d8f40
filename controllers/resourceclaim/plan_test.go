package resourceclaim

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func podWith(uid types.UID, entries ...corev1.PodResourceClaim) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: uid}, Spec: corev1.PodSpec{ResourceClaims: entries, NodeName: "n"}}
}

var (
	byTemplate = corev1.PodResourceClaim{Name: "gpu", ResourceClaimTemplateName: ptr.To("t")}
	byName     = corev1.PodResourceClaim{Name: "nic", ResourceClaimName: ptr.To("shared")}
	template   = &resourcev1.ResourceClaimTemplate{Spec: resourcev1.ResourceClaimTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}}}
)

func TestName(t *testing.T) {
	t.Parallel()
	pod := podWith("u", byTemplate, byName)
	if name, generated, known := Name(pod, &byName); name != "shared" || generated || !known {
		t.Errorf("by name: %q %v %v", name, generated, known)
	}
	if name, _, known := Name(pod, &byTemplate); name != "" || known {
		t.Errorf("not made yet: %q %v", name, known)
	}
	pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: ptr.To("p-gpu-x")}}
	if name, generated, known := Name(pod, &byTemplate); name != "p-gpu-x" || !generated || !known {
		t.Errorf("made: %q %v %v", name, generated, known)
	}
}

func TestMakeAndFind(t *testing.T) {
	t.Parallel()
	pod := podWith("u", byTemplate)
	claim := Make(pod, "gpu", template)
	if claim.GenerateName != "p-gpu-" || claim.Labels["a"] != "b" || claim.Annotations["resource.kubernetes.io/pod-claim-name"] != "gpu" || !IsFor(pod, claim) {
		t.Errorf("made %+v", claim.ObjectMeta)
	}
	if all := []resourcev1.ResourceClaim{{}, *claim}; Find(pod, "gpu", all) == nil || Find(pod, "nic", all) != nil || Find(podWith("other"), "gpu", all) != nil {
		t.Error("a claim is found by its entry and its pod")
	}
	if got, want := base(strings.Repeat("p", 60), strings.Repeat("c", 30)), strings.Repeat("p", 37)+"-"+strings.Repeat("c", 18); got != want {
		t.Errorf("base %q, want %q", got, want)
	}
}

func TestNoted(t *testing.T) {
	t.Parallel()
	pod := podWith("u")
	pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "z", ResourceClaimName: ptr.To("1")}, {Name: "unneeded"}}
	got := Noted(pod, map[string]string{"a": "2"})
	if len(got) != 2 || got[0].Name != "a" || *got[0].ResourceClaimName != "2" || got[1].Name != "z" {
		t.Errorf("noted %+v", got)
	}
}

func TestReservation(t *testing.T) {
	t.Parallel()
	claim := &resourcev1.ResourceClaim{}
	if Reservation(podWith("u"), claim) != nil {
		t.Error("nothing is allocated yet")
	}
	claim.Status.Allocation = &resourcev1.AllocationResult{}
	r := Reservation(podWith("u"), claim)
	if r == nil || r.Resource != "pods" || r.Name != "p" || r.UID != "u" {
		t.Fatalf("reservation %v", r)
	}
	claim.Status.ReservedFor = append(claim.Status.ReservedFor, *r)
	if Reservation(podWith("u"), claim) != nil {
		t.Error("reserved twice")
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	pod := func(uid types.UID) resourcev1.ResourceClaimConsumerReference {
		return resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: string(uid), UID: uid}
	}
	other := resourcev1.ResourceClaimConsumerReference{APIGroup: "example.com", Resource: "things", Name: "x", UID: "gone"}
	stays := func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID != "gone" }
	owner, done := podWith("u", byTemplate), podWith("u", byTemplate)
	done.Status.Phase = corev1.PodSucceeded
	for _, c := range []struct {
		name                       string
		reserved                   []resourcev1.ResourceClaimConsumerReference
		allocated, deleting        bool
		owner                      *corev1.Pod
		left                       int // of reservations; -1: no write
		deallocated, free, removed bool
	}{
		{"in use", []resourcev1.ResourceClaimConsumerReference{pod("a")}, true, false, owner, -1, false, false, false},
		{"one of two is gone", []resourcev1.ResourceClaimConsumerReference{pod("a"), pod("gone")}, true, false, owner, 1, false, false, false},
		{"the last is gone", []resourcev1.ResourceClaimConsumerReference{pod("gone")}, true, false, owner, 0, true, true, false},
		{"somebody else's", []resourcev1.ResourceClaimConsumerReference{other}, true, false, owner, -1, false, false, false},
		{"not used yet", nil, true, false, owner, -1, false, false, false},
		{"about to be allocated", nil, false, false, owner, -1, false, false, false},
		{"deleted, not used", nil, true, true, owner, 0, true, true, false},
		{"deleted, in use", []resourcev1.ResourceClaimConsumerReference{pod("a")}, true, true, owner, -1, false, false, false},
		{"its pod is done", []resourcev1.ResourceClaimConsumerReference{pod("gone")}, true, false, done, 0, true, true, true},
		{"its pod was replaced", nil, false, false, podWith("v", byTemplate), -1, false, false, true},
		{"its pod is not known", nil, false, false, nil, -1, false, false, false},
	} {
		claim := Make(owner, "gpu", template)
		claim.Finalizers, claim.Status.ReservedFor = []string{resourcev1.Finalizer}, c.reserved
		if c.allocated {
			claim.Status.Allocation = &resourcev1.AllocationResult{}
		}
		if c.deleting {
			claim.DeletionTimestamp = &metav1.Time{}
		}
		s := Settle(claim, stays, c.owner)
		left, deallocated := -1, false
		if s.Status != nil {
			left, deallocated = len(s.Status.ReservedFor), s.Status.Allocation == nil
		}
		if left != c.left || deallocated != c.deallocated || s.Free != c.free || s.Delete != c.removed {
			t.Errorf("%s: %d left, deallocated %v, free %v, delete %v", c.name, left, deallocated, s.Free, s.Delete)
		}
	}
}
