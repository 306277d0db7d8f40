package scheduler_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// class makes a class whose volumes are bound when a pod has found its node.
func (w *world) class(name, provisioner string) {
	w.Helper()
	later := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &later}
	if _, err := w.client.StorageV1().StorageClasses().Create(w.Context(), class, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) claim(name, class string) {
	w.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: ptr.To(class),
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
	}}
	if _, err := w.client.CoreV1().PersistentVolumeClaims("default").Create(w.Context(), claim, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// volume makes a volume that only one node reaches.
func (w *world) volume(name, class, node string, change func(*corev1.PersistentVolume)) {
	w.Helper()
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: class,
		Capacity:               corev1.ResourceList{"storage": resource.MustParse("2Gi")},
		PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/data"}},
		NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}},
	}}
	if change != nil {
		change(pv)
	}
	if _, err := w.client.CoreV1().PersistentVolumes().Create(w.Context(), pv, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func mounts(claim string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
	}
}

// A pod waits for its claim, then for a volume, goes where the volume is, and claim and
// volume are bound before it is.
func TestAPodFollowsItsVolume(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.pod("p", mounts("data"))
	w.refused("p", `0/2 nodes are available: persistentvolumeclaim "data" not found. not found`)
	w.class("local", "kubernetes.io/no-provisioner")
	w.claim("data", "local")
	w.refused("p", "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. "+
		"preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	w.volume("disk", "local", "node-1", nil)
	if got := w.placed("p"); got != "node-1" {
		t.Errorf("placed on %s", got)
	}
	claim, err := w.client.CoreV1().PersistentVolumeClaims("default").Get(t.Context(), "data", metav1.GetOptions{})
	if err != nil || claim.Spec.VolumeName != "disk" {
		t.Errorf("the claim has volume %q, error %v", claim.Spec.VolumeName, err)
	}
}

// A volume is made for the node that was chosen; meanwhile the pod's status says where it is
// about to go.
func TestAVolumeIsMadeForTheChosenNode(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.class("made", "csi.example.com")
	w.claim("data", "made")
	w.pod("p", mounts("data"))
	var node string
	w.eventually(func(ctx context.Context) string {
		claim, err := w.client.CoreV1().PersistentVolumeClaims("default").Get(ctx, "data", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if node = claim.Annotations["volume.kubernetes.io/selected-node"]; node == "" {
			return fmt.Sprintf("no node is selected: %v", claim.Annotations)
		}
		pod, err := w.client.CoreV1().Pods("default").Get(ctx, "p", metav1.GetOptions{})
		if err != nil || pod.Status.NominatedNodeName != node {
			return fmt.Sprintf("nominated %q, selected %q, error %v", pod.Status.NominatedNodeName, node, err)
		}
		return ""
	})
	w.volume("fresh", "made", node, func(pv *corev1.PersistentVolume) {
		pv.Annotations = map[string]string{"pv.kubernetes.io/provisioned-by": "csi.example.com"}
		pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "default", Name: "data"}
	})
	if got := w.placed("p"); got != node {
		t.Errorf("placed on %s, selected was %s", got, node)
	}
}
