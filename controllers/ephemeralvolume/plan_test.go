package ephemeralvolume

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	volume := corev1.Volume{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("fast")}}}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "uid"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{volume}}}
	claim, err := Decide(pod, &volume, nil)
	if err != nil || claim == nil || claim.Name != "p-v" || claim.Labels["a"] != "b" || *claim.Spec.StorageClassName != "fast" || !metav1.IsControlledBy(claim, pod) {
		t.Fatalf("claim %+v, error %v", claim, err)
	}
	if again, err := Decide(pod, &volume, claim); again != nil || err != nil {
		t.Errorf("once more: %+v, %v", again, err)
	}
	claim.OwnerReferences = nil
	want := "ephemeral volume v: PVC ns/p-v was not created for pod ns/p (pod is not owner)"
	if _, err := Decide(pod, &volume, claim); err == nil || err.Error() != want {
		t.Errorf("somebody else's: %v", err)
	}
	if !Wanted(pod) {
		t.Error("not wanted")
	}
	pod.DeletionTimestamp = &metav1.Time{}
	if Wanted(pod) {
		t.Error("wanted though it is on its way out")
	}
}
