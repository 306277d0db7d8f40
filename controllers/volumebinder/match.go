package volumebinder

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// match finds the volume for a claim: of those whose access modes do, the ones with the
// fewest modes first, and of these the smallest. A volume that is meant for the claim is
// taken whatever its size beyond what is asked; no other is, while binding is delayed.
func match(claim *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, delayed bool) (*corev1.PersistentVolume, error) {
	byModes := map[string][]*corev1.PersistentVolume{}
	for _, volume := range volumes {
		if storagehelpers.CheckAccessModes(claim, volume) {
			key := modesKey(volume.Spec.AccessModes)
			byModes[key] = append(byModes[key], volume)
		}
	}
	keys := slices.SortedFunc(maps.Keys(byModes), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, ","), strings.Count(b, ",")), strings.Compare(a, b))
	})
	for _, key := range keys {
		found, err := storagehelpers.FindMatchingVolume(claim, byModes[key], nil, nil, delayed, true)
		if err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// modesKey is equal for equal sets of access modes.
func modesKey(modes []corev1.PersistentVolumeAccessMode) string {
	texts := make([]string, 0, len(modes))
	for _, mode := range modes {
		texts = append(texts, string(mode))
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ",")
}

// satisfies says why a volume that a claim names doesn't do for it; nil: it does.
func satisfies(volume *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) error {
	asked, given := claim.Spec.Resources.Requests[corev1.ResourceStorage], volume.Spec.Capacity[corev1.ResourceStorage]
	switch {
	case volume.DeletionTimestamp != nil:
		return fmt.Errorf("the volume is marked for deletion %q", volume.Name)
	case given.Value() < asked.Value():
		return errors.New("requested PV is too small")
	case storagehelpers.GetPersistentVolumeClass(volume) != storagehelpers.GetPersistentVolumeClaimClass(claim):
		return errors.New("storageClassName does not match")
	case ptr.Deref(claim.Spec.VolumeAttributesClassName, "") != ptr.Deref(volume.Spec.VolumeAttributesClassName, ""):
		return errors.New("volumeAttributesClassName does not match")
	case storagehelpers.CheckVolumeModeMismatches(&claim.Spec, &volume.Spec):
		return errors.New("incompatible volumeMode")
	case !storagehelpers.CheckAccessModes(claim, volume):
		return errors.New("incompatible accessMode")
	}
	return nil
}

// defaultAnnotations mark the class for claims that name none.
var defaultAnnotations = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

// DefaultClass is the youngest of the classes that are marked as default; nil: none is.
func DefaultClass(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	marked := slices.DeleteFunc(slices.Clone(classes), func(class *storagev1.StorageClass) bool {
		return !slices.ContainsFunc(defaultAnnotations, func(a string) bool { return class.Annotations[a] == "true" })
	})
	if len(marked) == 0 {
		return nil
	}
	return slices.MinFunc(marked, func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
}

// drivers are the CSI drivers that took over from provisioners which Kubernetes once had
// inside.
var drivers = map[string]string{
	"kubernetes.io/aws-ebs": "ebs.csi.aws.com", "kubernetes.io/azure-disk": "disk.csi.azure.com", "kubernetes.io/azure-file": "file.csi.azure.com",
	"kubernetes.io/cinder": "cinder.csi.openstack.org", "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
	"kubernetes.io/portworx-volume": "pxd.portworx.com", "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}

// provisionerOf names the provisioner that makes volumes of a class, outside of here.
func provisionerOf(class *storagev1.StorageClass) (string, error) {
	if driver, moved := drivers[class.Provisioner]; moved {
		return driver, nil
	}
	if strings.HasPrefix(class.Provisioner, "kubernetes.io/") {
		return "", fmt.Errorf("no volume plugin matched name: %s", class.Provisioner)
	}
	return class.Provisioner, nil
}
