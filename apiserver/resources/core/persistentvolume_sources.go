package core

import (
	"net"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
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

var (
	iqn = regexp.MustCompile(`^iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`)
	eui = regexp.MustCompile(`^eui.[[:alnum:]]{16}$`)
	naa = regexp.MustCompile(`^naa.[[:alnum:]]{32}$`)
)

// isInitiator says whether a name is one of iSCSI's three sorts.
func isInitiator(name string) bool {
	switch {
	case strings.HasPrefix(name, "iqn"):
		return iqn.MatchString(name)
	case strings.HasPrefix(name, "eui"):
		return eui.MatchString(name)
	case strings.HasPrefix(name, "naa"):
		return naa.MatchString(name)
	}
	return false
}

// maxLUN is the highest number of a disk behind one target.
const maxLUN = 255

func validateISCSI(s *corev1.ISCSIPersistentVolumeSource, name string, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("targetPortal"), s.TargetPortal)
	if s.InitiatorName != nil && len(name+":"+s.TargetPortal) > 64 {
		errs = append(errs, field.Invalid(p.Child("targetportal"), s.TargetPortal, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."))
	}
	if s.IQN == "" {
		errs = append(errs, field.Required(p.Child("iqn"), ""))
	} else if !isInitiator(s.IQN) {
		errs = append(errs, field.Invalid(p.Child("iqn"), s.IQN, "must be valid format"))
	}
	if s.Lun < 0 || s.Lun > maxLUN {
		errs = append(errs, field.Invalid(p.Child("lun"), s.Lun, validation.InclusiveRangeError(0, maxLUN)))
	}
	switch {
	case s.SecretRef != nil:
		errs = append(errs, rules.Required(p.Child("secretRef", "name"), s.SecretRef.Name)...)
	case s.DiscoveryCHAPAuth || s.SessionCHAPAuth:
		errs = append(errs, field.Required(p.Child("secretRef"), ""))
	}
	if n := s.InitiatorName; n != nil && !isInitiator(*n) {
		errs = append(errs, field.Invalid(p.Child("initiatorname"), *n, "must be valid format"))
	}
	return errs
}

func validateFC(s *corev1.FCVolumeSource, p *field.Path) field.ErrorList {
	at := p.Child("targetWWNs")
	var errs field.ErrorList
	switch {
	case len(s.TargetWWNs) == 0 && len(s.WWIDs) == 0:
		errs = append(errs, field.Required(at, "must specify either targetWWNs or wwids, but not both"))
	case len(s.TargetWWNs) > 0 && len(s.WWIDs) > 0:
		errs = append(errs, field.Invalid(at, s.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	switch {
	case len(s.TargetWWNs) == 0:
	case s.Lun == nil:
		errs = append(errs, field.Required(p.Child("lun"), "lun is required if targetWWNs is specified"))
	case *s.Lun < 0 || *s.Lun > maxLUN:
		errs = append(errs, field.Invalid(p.Child("lun"), s.Lun, validation.InclusiveRangeError(0, maxLUN)))
	}
	return errs
}

// validateFlex: options in the system's own namespaces are the system's.
func validateFlex(s *corev1.FlexPersistentVolumeSource, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("driver"), s.Driver)
	for k := range s.Options {
		domain, _, _ := strings.Cut(k, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(p.Child("options").Key(k), k, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
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
		must, errs = []wanted{{"pdName", s.GCEPersistentDisk.PDName}}, partition(s.GCEPersistentDisk.Partition, p)
	case "awsElasticBlockStore":
		must, errs = []wanted{{"volumeID", s.AWSElasticBlockStore.VolumeID}}, partition(s.AWSElasticBlockStore.Partition, p)
	case "glusterfs":
		must, errs = []wanted{{"endpoints", s.Glusterfs.EndpointsName}, {"path", s.Glusterfs.Path}}, glusterNamespace(s.Glusterfs.EndpointsNamespace, p.Child("endpointsNamespace"))
	case "flocker":
		errs = validateFlocker(s.Flocker, p)
	case "rbd":
		must = []wanted{{"monitors", first(s.RBD.CephMonitors)}, {"image", s.RBD.RBDImage}}
	case "quobyte":
		errs = validateQuobyte(s.Quobyte, p)
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
		must, errs = []wanted{{"diskName", s.AzureDisk.DiskName}, {"diskURI", s.AzureDisk.DataDiskURI}}, validateAzureDisk(s.AzureDisk, p)
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

func partition(n int32, p *field.Path) field.ErrorList {
	if n < 0 || n > maxLUN {
		return field.ErrorList{field.Invalid(p.Child("partition"), n, validation.InclusiveRangeError(1, maxLUN))}
	}
	return nil
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

func validateFlocker(s *corev1.FlockerVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case s.DatasetName == "" && s.DatasetUUID == "":
		errs = append(errs, field.Required(p, "one of datasetName and datasetUUID is required"))
	case s.DatasetName != "" && s.DatasetUUID != "":
		errs = append(errs, field.Invalid(p, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(s.DatasetName, "/") {
		errs = append(errs, field.Invalid(p.Child("datasetName"), s.DatasetName, "must not contain '/'"))
	}
	return errs
}

func validateQuobyte(s *corev1.QuobyteVolumeSource, p *field.Path) field.ErrorList {
	const text = "must be a host:port pair or multiple pairs separated by commas"
	var errs field.ErrorList
	switch {
	case s.Registry == "":
		errs = append(errs, field.Required(p.Child("registry"), text))
	case len(s.Tenant) > 64:
		errs = append(errs, field.Required(p.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
	default:
		for _, pair := range strings.Split(s.Registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(p.Child("registry"), s.Registry, text))
			}
		}
	}
	return append(errs, rules.Required(p.Child("volume"), s.Volume)...)
}

func secretNames(r *corev1.SecretReference, p *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return append(rules.Required(p.Child("name"), r.Name), rules.Required(p.Child("namespace"), r.Namespace)...)
}

func validateAzureDisk(s *corev1.AzureDiskVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.CachingMode != nil {
		errs = append(errs, rules.Among(p.Child("cachingMode"), *s.CachingMode, corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)...)
	}
	if s.Kind == nil {
		return errs
	}
	errs = append(errs, rules.Among(p.Child("kind"), *s.Kind, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)...)
	managed := *s.Kind == corev1.AzureManagedDisk
	switch {
	case managed && !strings.HasPrefix(s.DataDiskURI, "/subscriptions/"):
		errs = append(errs, field.NotSupported(p.Child("diskURI"), s.DataDiskURI, []string{"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"}))
	case !managed && !strings.HasPrefix(s.DataDiskURI, "https://"):
		errs = append(errs, field.NotSupported(p.Child("diskURI"), s.DataDiskURI, []string{"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"}))
	}
	return errs
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
