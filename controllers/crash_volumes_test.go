package controllers_test

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var (
	gibibyte = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	writable = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
)

// volume makes a volume of this run's class.
func (w *world) volume(name string) {
	w.Helper()
	w.must(w.client.CoreV1().PersistentVolumes().Create(w.Context(), &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: w.own(name)}, Spec: corev1.PersistentVolumeSpec{
		StorageClassName: w.ns, AccessModes: writable, Capacity: gibibyte, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
		PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}}}, metav1.CreateOptions{}))
}

func (w *world) claimSpec() corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To(w.ns), AccessModes: writable, Resources: corev1.VolumeResourceRequirements{Requests: gibibyte}}
}

// phases waits until so many volumes of this run are in the phase.
func (w *world) phases(phase corev1.PersistentVolumePhase, n int) {
	w.Helper()
	w.until(fmt.Sprintf("%d volumes are %s", n, phase), func(ctx context.Context) (bool, error) {
		list, err := w.client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		found := 0
		for _, v := range list.Items {
			if v.Spec.StorageClassName == w.ns && v.Status.Phase == phase {
				found++
			}
		}
		return found == n, nil
	})
}

// crashVolumes binds claims, one of them made for a pod, and lets one go that a pod uses.
func crashVolumes(w *world) {
	claims := w.client.CoreV1().PersistentVolumeClaims(w.ns)
	w.must(claims.Create(w.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: w.claimSpec()}, metav1.CreateOptions{}))
	w.volume("a")
	w.phases(corev1.VolumeBound, 1)
	w.volume("b")
	t := template("web", "app:1")
	t.Spec.Volumes = []corev1.Volume{
		{Name: "c", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}},
		{Name: "e", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: w.claimSpec()}}}},
	}
	w.must(w.client.CoreV1().Pods(w.ns).Create(w.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: t.Spec}, metav1.CreateOptions{}))
	w.phases(corev1.VolumeBound, 2)
	w.until("the pod runs", func(ctx context.Context) (bool, error) {
		p, err := w.client.CoreV1().Pods(w.ns).Get(ctx, "p", metav1.GetOptions{})
		return err == nil && p.Status.Phase == corev1.PodRunning, err
	})
	w.do(claims.Delete(w.Context(), "c", metav1.DeleteOptions{}))
	w.do(w.client.CoreV1().Pods(w.ns).Delete(w.Context(), "p", metav1.DeleteOptions{}))
	w.phases(corev1.VolumeReleased, 1)
	w.do(w.client.CoreV1().PersistentVolumes().Delete(w.Context(), w.own("a"), metav1.DeleteOptions{}))
	w.until("the released volume is gone", func(ctx context.Context) (bool, error) {
		list, err := w.client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		n := 0
		for _, v := range list.Items {
			if v.Spec.StorageClassName == w.ns {
				n++
			}
		}
		return n == 1, err
	})
}

// crashStatefulSet rolls and shrinks a set whose pods have volumes.
func crashStatefulSet(w *world) {
	for _, name := range []string{"any-a", "any-b"} {
		w.volume(name)
	}
	sets := w.client.AppsV1().StatefulSets(w.ns)
	t := template("db", "app:1")
	t.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	w.must(sets.Create(w.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: appsv1.StatefulSetSpec{
		Replicas: ptr.To[int32](2), ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, Template: t,
		VolumeClaimTemplates:                 []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: w.claimSpec()}},
		PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType},
	}}, metav1.CreateOptions{}))
	has := func(n int32) {
		w.Helper()
		w.until(fmt.Sprintf("%d replicas", n), func(ctx context.Context) (bool, error) {
			set, err := sets.Get(ctx, "db", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			s := set.Status
			return s.ObservedGeneration == set.Generation && s.Replicas == n && s.AvailableReplicas == n && s.UpdatedReplicas == n && s.CurrentRevision == s.UpdateRevision, nil
		})
	}
	has(2)
	w.must(sets.Patch(w.Context(), "db", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"app:2"}]}}}}`), metav1.PatchOptions{}))
	has(2)
	w.must(sets.Patch(w.Context(), "db", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}))
	has(1)
}
