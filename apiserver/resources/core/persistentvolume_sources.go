package core

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/apiserver/resources/volume"
)

// defaultVolumeSource sets what a source leaves out.
func defaultVolumeSource(s *corev1.PersistentVolumeSource) {
	switch {
	case s.HostPath != nil && s.HostPath.Type == nil:
		s.HostPath.Type = ptr.To(corev1.HostPathUnset)
	case s.ISCSI != nil:
		fill(&s.ISCSI.ISCSIInterface, "default")
	case s.RBD != nil:
		fill(&s.RBD.RBDPool, "rbd")
		fill(&s.RBD.RadosUser, "admin")
		fill(&s.RBD.Keyring, "/etc/ceph/keyring")
	case s.ScaleIO != nil:
		fill(&s.ScaleIO.StorageMode, "ThinProvisioned")
		fill(&s.ScaleIO.FSType, "xfs")
	case s.AzureDisk != nil:
		d := s.AzureDisk
		fillPtr(&d.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		fillPtr(&d.Kind, corev1.AzureSharedBlobDisk)
		fillPtr(&d.FSType, "ext4")
		fillPtr(&d.ReadOnly, false)
	}
}

func fill(s *string, value string) {
	if *s == "" {
		*s = value
	}
}

func fillPtr[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

func validateISCSI(s *corev1.ISCSIPersistentVolumeSource, name string, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("targetPortal"), s.TargetPortal)
	if s.InitiatorName != nil && len(name+":"+s.TargetPortal) > 64 {
		errs = append(errs, field.Invalid(p.Child("targetportal"), s.TargetPortal, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."))
	}
	if s.IQN == "" {
		errs = append(errs, field.Required(p.Child("iqn"), ""))
	} else if !volume.IsInitiator(s.IQN) {
		errs = append(errs, field.Invalid(p.Child("iqn"), s.IQN, "must be valid format"))
	}
	if s.Lun < 0 || s.Lun > volume.MaxLUN {
		errs = append(errs, field.Invalid(p.Child("lun"), s.Lun, validation.InclusiveRangeError(0, volume.MaxLUN)))
	}
	switch {
	case s.SecretRef != nil:
		errs = append(errs, rules.Required(p.Child("secretRef", "name"), s.SecretRef.Name)...)
	case s.DiscoveryCHAPAuth || s.SessionCHAPAuth:
		errs = append(errs, field.Required(p.Child("secretRef"), ""))
	}
	if n := s.InitiatorName; n != nil && !volume.IsInitiator(*n) {
		errs = append(errs, field.Invalid(p.Child("initiatorname"), *n, "must be valid format"))
	}
	return errs
}

func validateFlex(s *corev1.FlexPersistentVolumeSource, p *field.Path) field.ErrorList {
	return append(rules.Required(p.Child("driver"), s.Driver), volume.ValidateFlexOptions(s.Options, p.Child("options"))...)
}

// wanted is a field of a source that must not be empty.
type wanted struct{ name, value string }

// validateRetired judges sources whose drivers have left the tree: they are kept, and still must be whole.
func validateRetired(s *corev1.PersistentVolumeSource, source string, p *field.Path) field.ErrorList {
	first := func(list []string) string { return strings.Join(list, ",") }
	var must []wanted
	var errs field.ErrorList
	switch source {
	case "gcePersistentDisk":
		must, errs = []wanted{{"pdName", s.GCEPersistentDisk.PDName}}, volume.ValidatePartition(s.GCEPersistentDisk.Partition, p)
	case "awsElasticBlockStore":
		must, errs = []wanted{{"volumeID", s.AWSElasticBlockStore.VolumeID}}, volume.ValidatePartition(s.AWSElasticBlockStore.Partition, p)
	case "glusterfs":
		must, errs = []wanted{{"endpoints", s.Glusterfs.EndpointsName}, {"path", s.Glusterfs.Path}}, glusterNamespace(s.Glusterfs.EndpointsNamespace, p.Child("endpointsNamespace"))
	case "flocker":
		errs = volume.ValidateFlocker(s.Flocker, p)
	case "rbd":
		must = []wanted{{"monitors", first(s.RBD.CephMonitors)}, {"image", s.RBD.RBDImage}}
	case "quobyte":
		errs = volume.ValidateQuobyte(s.Quobyte, p)
	case "cephfs":
		must = []wanted{{"monitors", first(s.CephFS.Monitors)}}
	case "cinder":
		must, errs = []wanted{{"volumeID", s.Cinder.VolumeID}}, secretNames(s.Cinder.SecretRef, p.Child("secretRef"))
	case "azureFile":
		must = []wanted{{"secretName", s.AzureFile.SecretName}, {"shareName", s.AzureFile.ShareName}}
		if ns := s.AzureFile.SecretNamespace; ns != nil {
			must = append(must, wanted{"secretNamespace", *ns})
		}
	case "vsphereVolume":
		must = []wanted{{"volumePath", s.VsphereVolume.VolumePath}}
	case "photonPersistentDisk":
		must = []wanted{{"pdID", s.PhotonPersistentDisk.PdID}}
	case "portworxVolume":
		must = []wanted{{"volumeID", s.PortworxVolume.VolumeID}}
	case "azureDisk":
		must, errs = []wanted{{"diskName", s.AzureDisk.DiskName}, {"diskURI", s.AzureDisk.DataDiskURI}}, volume.ValidateAzureDisk(s.AzureDisk, p)
	case "scaleIO":
		must = []wanted{{"gateway", s.ScaleIO.Gateway}, {"system", s.ScaleIO.System}, {"volumeName", s.ScaleIO.VolumeName}}
	case "storageos":
		errs = validateStorageOS(s.StorageOS, p)
	}
	var missing field.ErrorList
	for _, w := range must {
		missing = append(missing, rules.Required(p.Child(w.name), w.value)...)
	}
	return append(missing, errs...)
}

func glusterNamespace(ns *string, p *field.Path) field.ErrorList {
	switch {
	case ns == nil:
		return nil
	case *ns == "":
		return field.ErrorList{field.Invalid(p, *ns, "if the endpointnamespace is set, it must be a valid namespace name")}
	}
	return rules.Invalid(p, *ns, apivalidation.ValidateNamespaceName(*ns, false))
}

func secretNames(r *corev1.SecretReference, p *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return append(rules.Required(p.Child("name"), r.Name), rules.Required(p.Child("namespace"), r.Namespace)...)
}

func validateStorageOS(s *corev1.StorageOSPersistentVolumeSource, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("volumeName"), s.VolumeName)
	if s.VolumeName != "" {
		errs = append(errs, rules.Invalid(p.Child("volumeName"), s.VolumeName, validation.IsDNS1123Label(s.VolumeName))...)
	}
	if s.VolumeNamespace != "" {
		errs = append(errs, rules.Invalid(p.Child("volumeNamespace"), s.VolumeNamespace, validation.IsDNS1123Label(s.VolumeNamespace))...)
	}
	if r := s.SecretRef; r != nil {
		errs = append(errs, rules.Required(p.Child("secretRef", "name"), r.Name)...)
		errs = append(errs, rules.Required(p.Child("secretRef", "namespace"), r.Namespace)...)
	}
	return errs
}
