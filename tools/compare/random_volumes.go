package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// driver is a CSI driver that nobody plays: what it is asked to make is waited for.
const driver = "csi.example.com"

// How many claims there are in a random cluster.
const randomClaims = 6

// makeStorageClasses makes a class whose volumes are bound at once, one whose volumes are there, and one whose are made.
func makeStorageClasses(ctx context.Context, client kubernetes.Interface) error {
	later := storagev1.VolumeBindingWaitForFirstConsumer
	for _, class := range []storagev1.StorageClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "now"}, Provisioner: "kubernetes.io/no-provisioner"},
		{ObjectMeta: metav1.ObjectMeta{Name: "there"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &later},
		{ObjectMeta: metav1.ObjectMeta{Name: "made"}, Provisioner: driver, VolumeBindingMode: &later, AllowedTopologies: []corev1.TopologySelectorTerm{
			{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{"a", "b"}}}}}},
	} {
		if _, err := client.StorageV1().StorageClasses().Create(ctx, &class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	reports := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr.To(true)}}
	_, err := client.StorageV1().CSIDrivers().Create(ctx, reports, metav1.CreateOptions{})
	return err
}

// makeStorage makes claims, volumes for some of them, and what nodes say of the driver. Names start with prefix.
func (r *chance) makeStorage(ctx context.Context, client kubernetes.Interface, prefix string, nodes int) error {
	var errs []error
	for i := range nodes {
		if r.oneIn(3) {
			continue
		}
		node := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{
			Name: driver, NodeID: "x", Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To(int32(1 + r.IntN(2)))}}}}}
		_, err := client.StorageV1().CSINodes().Create(ctx, node, metav1.CreateOptions{})
		errs = append(errs, err)
	}
	for _, zone := range zones {
		capacity := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: prefix + zone}, StorageClassName: "made",
			NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: zone}}, Capacity: resource.NewQuantity(int64(r.IntN(20))<<30, resource.BinarySI)}
		_, err := client.StorageV1().CSIStorageCapacities("default").Create(ctx, capacity, metav1.CreateOptions{})
		errs = append(errs, err)
	}
	for i := range randomClaims {
		errs = append(errs, r.makeClaim(ctx, client, fmt.Sprintf("%sc%d", prefix, i)))
	}
	for i := range 2 + r.IntN(4) {
		_, err := client.CoreV1().PersistentVolumes().Create(ctx, r.volume(fmt.Sprintf("%sv%d", prefix, i), "there"), metav1.CreateOptions{})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// makeClaim makes a claim; half of them are bound already, a few to a volume that isn't there.
func (r *chance) makeClaim(ctx context.Context, client kubernetes.Interface, name string) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes:      []corev1.PersistentVolumeAccessMode{pick(r, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)},
		StorageClassName: ptr.To(pick(r, "there", "there", "there", "made", "made", "now")),
		Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse(pick(r, "1Gi", "5Gi", "12Gi"))}},
	}}
	bound := r.oneIn(2)
	if bound {
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		claim.Spec.VolumeName = "of-" + name
	}
	made, err := client.CoreV1().PersistentVolumeClaims("default").Create(ctx, claim, metav1.CreateOptions{})
	if err != nil || !bound {
		return err
	}
	pv := r.volume("of-"+name, *claim.Spec.StorageClassName)
	pv.Spec.AccessModes = claim.Spec.AccessModes
	pv.Spec.Capacity = claim.Spec.Resources.Requests
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: "default", Name: name, UID: made.UID}
	_, err = client.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{})
	return err
}

func (r *chance) volume(name, class string) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Spec: corev1.PersistentVolumeSpec{
		AccessModes:                   []corev1.PersistentVolumeAccessMode{pick(r, corev1.ReadWriteOnce, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)},
		Capacity:                      corev1.ResourceList{"storage": resource.MustParse(pick(r, "2Gi", "6Gi", "15Gi"))},
		PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain, StorageClassName: class,
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}},
	}}
	key, values := corev1.LabelTopologyZone, []string{pick(r, zones...), pick(r, zones...)}
	if r.oneIn(4) {
		key, values = corev1.LabelHostname, []string{fmt.Sprintf("n%d", r.IntN(6)), fmt.Sprintf("n%d", r.IntN(6))}
	}
	if !r.oneIn(3) {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}}}}
	}
	if r.oneIn(4) {
		pv.Labels[corev1.LabelTopologyZone] = pick(r, "a", "b", "c", "a__b")
	}
	return pv
}

// mount gives a pod one or two of the claims, one of which may not exist.
func (r *chance) mount(spec *corev1.PodSpec, prefix string) {
	for i := range 1 + r.IntN(2) {
		name := fmt.Sprintf("%sc%d", prefix, r.IntN(randomClaims))
		if r.oneIn(15) {
			name = "nowhere"
		}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: fmt.Sprintf("v%d", i), VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
}
