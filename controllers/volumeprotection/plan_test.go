package volumeprotection

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		held, leaving, used bool
		want                Verdict
	}{
		"new":                       {false, false, false, Protect},
		"protected":                 {true, false, false, Leave},
		"deleted in use":            {true, true, true, Leave},
		"deleted":                   {true, true, false, Release},
		"deleted without finalizer": {false, true, false, Leave},
	} {
		claim := &corev1.PersistentVolumeClaim{}
		if c.held {
			claim.Finalizers = []string{ClaimFinalizer}
		}
		if c.leaving {
			claim.DeletionTimestamp = &metav1.Time{}
		}
		if got := Decide(claim, ClaimFinalizer, c.used); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestUse(t *testing.T) {
	t.Parallel()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "p-own", Namespace: "ns",
		OwnerReferences: []metav1.OwnerReference{{UID: "pod", Controller: ptr.To(true)}}}}
	named := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p-own"}}
	own := corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}
	pod := func(source corev1.VolumeSource, node string, changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "pod"},
			Spec: corev1.PodSpec{NodeName: node, Volumes: []corev1.Volume{{Name: "own", VolumeSource: source}}}}
		for _, change := range changes {
			change(pod)
		}
		return pod
	}
	succeeded := func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }
	shutDown := func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{}, ptr.To[int64](0)
	}
	for name, c := range map[string]struct {
		pod              *corev1.Pod
		mounts, refersTo bool
	}{
		"runs":             {pod(named, "n"), true, true},
		"waits for a node": {pod(named, ""), false, true},
		"ended":            {pod(named, "n", succeeded), true, false},
		"own":              {pod(own, "n"), true, true},
		"own, shut down":   {pod(own, "n", shutDown), false, false},
		"no volume":        {pod(corev1.VolumeSource{}, "n"), false, false},
	} {
		if m, r := mounts(c.pod, claim), refersTo(c.pod, claim); m != c.mounts || r != c.refersTo {
			t.Errorf("%s: mounts %v, refers %v", name, m, r)
		}
	}
}

func TestUnused(t *testing.T) {
	t.Parallel()
	claim := &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
	first := unused(claim, false, time.Now())
	if first == nil || first.Status != corev1.ConditionTrue || first.Reason != "NoPodsUsingPVC" {
		t.Fatalf("condition %+v", first)
	}
	claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{*first}
	if again := unused(claim, false, time.Now()); again != nil {
		t.Errorf("said already: %+v", again)
	}
	if used := unused(claim, true, time.Now()); used == nil || used.Status != corev1.ConditionFalse || used.Reason != "PodUsingPVC" {
		t.Errorf("condition %+v", used)
	}
	claim.Status.Phase = corev1.ClaimPending
	if pending := unused(claim, true, time.Now()); pending != nil {
		t.Errorf("a pending claim: %+v", pending)
	}
}
