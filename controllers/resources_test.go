package controllers_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// resourceQuota fills a quota, is refused beyond it, and sees what is gone given back.
func resourceQuota(w *world) {
	quotas := w.client.CoreV1().ResourceQuotas(w.ns)
	hard := corev1.ResourceList{"pods": resource.MustParse("2"), "count/deployments.apps": resource.MustParse("5")}
	w.must(quotas.Create(w.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{}))
	uses := func(pods, deployments string) {
		w.Helper()
		w.eventually(func(ctx context.Context) string {
			q, err := quotas.Get(ctx, "q", metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			p, d := q.Status.Used["pods"], q.Status.Used["count/deployments.apps"]
			// A quota that hasn't been counted yet bounds nothing.
			if len(q.Status.Used) != len(hard) || p.String() != pods || d.String() != deployments {
				return fmt.Sprintf("used %+v", q.Status.Used)
			}
			return ""
		})
	}
	uses("0", "0")
	w.deployment("d", 3, nil)
	uses("2", "1")
	w.reported("replicaset-controller", "FailedCreate", "is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2")
	w.must(w.client.AppsV1().Deployments(w.ns).Patch(w.Context(), "d", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}))
	uses("1", "1")
}

// volumes binds a claim to a volume, and gives the volume up with the claim.
func volumes(w *world) {
	claims, all := w.client.CoreV1().PersistentVolumeClaims(w.ns), w.client.CoreV1().PersistentVolumes()
	gi := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	w.must(claims.Create(w.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: ptr.To("by-hand"), AccessModes: modes, Resources: corev1.VolumeResourceRequirements{Requests: gi}}}, metav1.CreateOptions{}))
	w.must(all.Create(w.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "by-hand"}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: "by-hand", AccessModes: modes, Capacity: gi, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}}}, metav1.CreateOptions{}))
	w.eventually(func(ctx context.Context) string {
		claim, err := claims.Get(ctx, "c", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName != "by-hand" {
			return fmt.Sprintf("claim %+v", claim.Status)
		}
		return ""
	})
	w.do(claims.Delete(w.Context(), "c", metav1.DeleteOptions{}))
	w.eventually(func(ctx context.Context) string {
		volume, err := all.Get(ctx, "by-hand", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if volume.Status.Phase != corev1.VolumeReleased {
			return fmt.Sprintf("volume %+v", volume.Status)
		}
		return ""
	})
}
