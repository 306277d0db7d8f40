package volumebinder

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

func size(text string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(text)}
}

// testClaim asks for 2Gi, to be written by one node, of no class.
func testClaim(changes ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "claim", Annotations: map[string]string{}},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To(""), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: size("2Gi")}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}}
	for _, change := range changes {
		change(claim)
	}
	return claim
}

func names(volume string) func(*corev1.PersistentVolumeClaim) {
	return func(claim *corev1.PersistentVolumeClaim) { claim.Spec.VolumeName = volume }
}
func completed(claim *corev1.PersistentVolumeClaim) {
	claim.Annotations[storagehelpers.AnnBindCompleted] = "yes"
	claim.Status.Phase = corev1.ClaimBound
}
func ofClass(class *string) func(*corev1.PersistentVolumeClaim) {
	return func(claim *corev1.PersistentVolumeClaim) { claim.Spec.StorageClassName = class }
}

// testVolume is free, of no class.
func testVolume(name, capacity string, changes ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}},
		Spec: corev1.PersistentVolumeSpec{Capacity: size(capacity), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable}}
	for _, change := range changes {
		change(volume)
	}
	return volume
}

func refers(uid string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ns", Name: "c", UID: "claim"}
		v.Spec.ClaimRef.UID = testClaim().UID
		if uid != "claim" {
			v.Spec.ClaimRef.UID = ""
		}
		if uid == "other" {
			v.Spec.ClaimRef.UID = "other"
		}
	}
}
func moreModes(v *corev1.PersistentVolume) {
	v.Spec.AccessModes = append(v.Spec.AccessModes, corev1.ReadWriteMany)
}
func in(phase corev1.PersistentVolumePhase) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Status.Phase = phase }
}
func policy(p corev1.PersistentVolumeReclaimPolicy) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeReclaimPolicy = p }
}
func on(path string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.HostPath = &corev1.HostPathVolumeSource{Path: path} }
}

func TestDecideClaim(t *testing.T) {
	t.Parallel()
	class := func(name, provisioner string, mode storagev1.VolumeBindingMode, preset string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": preset}},
			Provisioner: provisioner, VolumeBindingMode: &mode}
	}
	classes := []*storagev1.StorageClass{
		class("now", "example.com/maker", storagev1.VolumeBindingImmediate, "false"),
		class("later", "example.com/maker", storagev1.VolumeBindingWaitForFirstConsumer, "false"),
		class("old", "kubernetes.io/aws-ebs", storagev1.VolumeBindingImmediate, "true"),
		class("none", "kubernetes.io/no-provisioner", storagev1.VolumeBindingImmediate, "false"),
	}
	for name, c := range map[string]struct {
		claim   *corev1.PersistentVolumeClaim
		volumes []*corev1.PersistentVolume
		waiting []string
		want    string // volume, phase, class, provisioner
		report  string
	}{
		"the smallest":             {testClaim(), []*corev1.PersistentVolume{testVolume("a", "9Gi"), testVolume("b", "2Gi"), testVolume("c", "1Gi")}, nil, "b   ", ""},
		"the fewest modes":         {testClaim(), []*corev1.PersistentVolume{testVolume("a", "2Gi", moreModes), testVolume("b", "9Gi")}, nil, "b   ", ""},
		"the one meant for it":     {testClaim(), []*corev1.PersistentVolume{testVolume("a", "2Gi"), testVolume("b", "9Gi", refers(""))}, nil, "b   ", ""},
		"not one that is taken":    {testClaim(), []*corev1.PersistentVolume{testVolume("a", "2Gi", refers("other"))}, nil, " Pending  ", "FailedBinding"},
		"none":                     {testClaim(), nil, nil, " Pending  ", "FailedBinding"},
		"the default class":        {testClaim(ofClass(nil)), nil, nil, "  old ", ""},
		"a provisioner":            {testClaim(ofClass(ptr.To("now"))), nil, nil, "   example.com/maker", "ExternalProvisioning"},
		"one that moved":           {testClaim(ofClass(ptr.To("old"))), nil, nil, "   ebs.csi.aws.com", "ExternalProvisioning"},
		"no provisioner":           {testClaim(ofClass(ptr.To("none"))), nil, nil, "   ", "ProvisioningFailed"},
		"no class":                 {testClaim(ofClass(ptr.To("what"))), nil, nil, "   ", "ProvisioningFailed"},
		"waits for a pod":          {testClaim(ofClass(ptr.To("later"))), nil, nil, " Pending  ", "WaitForFirstConsumer"},
		"waits for a node":         {testClaim(ofClass(ptr.To("later"))), nil, []string{"p"}, " Pending  ", "WaitForPodScheduled"},
		"names none that is there": {testClaim(names("v")), nil, nil, " Pending  ", ""},
		"names one":                {testClaim(names("v")), []*corev1.PersistentVolume{testVolume("v", "2Gi")}, nil, "v   ", ""},
		"names one too small":      {testClaim(names("v")), []*corev1.PersistentVolume{testVolume("v", "1Gi")}, nil, " Pending  ", "VolumeMismatch"},
		"names one that is taken":  {testClaim(names("v")), []*corev1.PersistentVolume{testVolume("v", "2Gi", refers("other"))}, nil, " Pending  ", "FailedBinding"},
		"bound":                    {testClaim(names("v"), completed), []*corev1.PersistentVolume{testVolume("v", "2Gi", refers("claim"))}, nil, "v   ", ""},
		"lost":                     {testClaim(names("v"), completed), nil, nil, " Lost  ", "ClaimLost"},
		"misbound":                 {testClaim(names("v"), completed), []*corev1.PersistentVolume{testVolume("v", "2Gi", refers("other"))}, nil, " Lost  ", "ClaimMisbound"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := DecideClaim(ClaimView{Claim: c.claim, Volumes: c.volumes, Classes: classes, Waiting: c.waiting})
			if err != nil {
				t.Fatal(err)
			}
			bind := ""
			if plan.Bind != nil {
				bind = plan.Bind.Name
			}
			if got := fmt.Sprint(bind, " ", plan.Phase, " ", plan.Class, " ", plan.Provisioner); got != c.want {
				t.Errorf("plan %q", got)
			}
			if (c.report != "") != (len(plan.Reports) == 1) || c.report != "" && plan.Reports[0].Reason != c.report {
				t.Errorf("reports %v", plan.Reports)
			}
		})
	}
}

func TestDecideVolume(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		volume *corev1.PersistentVolume
		claim  *corev1.PersistentVolumeClaim
		phase  corev1.PersistentVolumePhase
		unbind bool
		remove bool
		report string
	}{
		"new":               {testVolume("v", "1Gi", in(corev1.VolumePending)), nil, corev1.VolumeAvailable, false, false, ""},
		"meant for one":     {testVolume("v", "1Gi", refers(""), in(corev1.VolumePending)), nil, corev1.VolumeAvailable, false, false, ""},
		"bound":             {testVolume("v", "1Gi", refers("claim")), testClaim(names("v")), corev1.VolumeBound, false, false, ""},
		"bound to another":  {testVolume("v", "1Gi", refers("claim")), testClaim(names("w")), "", true, false, ""},
		"released":          {testVolume("v", "1Gi", refers("claim"), in(corev1.VolumeBound)), nil, corev1.VolumeReleased, false, false, ""},
		"kept":              {testVolume("v", "1Gi", refers("claim"), in(corev1.VolumeReleased)), nil, "", false, false, ""},
		"not recycled":      {testVolume("v", "1Gi", refers("claim"), in(corev1.VolumeReleased), policy(corev1.PersistentVolumeReclaimRecycle)), nil, corev1.VolumeFailed, false, false, "VolumeFailedRecycle"},
		"deleted":           {testVolume("v", "1Gi", refers("claim"), in(corev1.VolumeReleased), policy(corev1.PersistentVolumeReclaimDelete), on("/tmp/x")), nil, "", false, true, ""},
		"not to be deleted": {testVolume("v", "1Gi", refers("claim"), in(corev1.VolumeReleased), policy(corev1.PersistentVolumeReclaimDelete), on("/x")), nil, corev1.VolumeFailed, false, false, "VolumeFailedDelete"},
		"failed already":    {testVolume("v", "1Gi", refers("claim"), in(corev1.VolumeFailed), policy(corev1.PersistentVolumeReclaimDelete), on("/x")), nil, "", false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := DecideVolume(c.volume, c.claim)
			if plan.Phase != c.phase || plan.Unbind != c.unbind || plan.Remove != c.remove {
				t.Errorf("plan %+v", plan)
			}
			if (c.report != "") != (len(plan.Reports) == 1) || c.report != "" && plan.Reports[0].Reason != c.report {
				t.Errorf("reports %v", plan.Reports)
			}
		})
	}
}

func TestBinding(t *testing.T) {
	t.Parallel()
	claim, volume := testClaim(), testVolume("v", "3Gi")
	bound := BoundClaim(claim, volume)
	if bound.Spec.VolumeName != "v" || bound.Annotations[storagehelpers.AnnBindCompleted] != "yes" || bound.Annotations[storagehelpers.AnnBoundByController] != "yes" {
		t.Errorf("claim %+v", bound)
	}
	if again := BoundClaim(bound, volume); again != bound {
		t.Error("bound twice")
	}
	status, err := ClaimStatus(bound, corev1.ClaimBound, volume)
	if given := status.Capacity[corev1.ResourceStorage]; err != nil || given.String() != "3Gi" || len(status.AccessModes) != 1 {
		t.Errorf("status %+v, error %v", status, err)
	}
}
