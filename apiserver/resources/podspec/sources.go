package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
	"github.com/kogge-dev/kogge/apiserver/resources/volume"
)

// source is one of the things that a volume can come from.
type source struct {
	name  string
	set   bool
	judge func(*field.Path) field.ErrorList
}

// validateSource: a volume has exactly one source. Of several the first in upstream's order is judged, the others refused.
func validateSource(v *corev1.Volume, pod string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	n := 0
	s := &v.VolumeSource
	for _, x := range append(append(ownSources(s), networkSources(s)...), lastSources(s)...) {
		if !x.set {
			continue
		}
		if n++; n > 1 {
			errs = append(errs, field.Forbidden(p.Child(x.name), "may not specify more than 1 volume type"))
			continue
		}
		errs = append(errs, x.judge(p.Child(x.name))...)
	}
	if n == 0 {
		return field.ErrorList{field.Required(p, "must specify a volume type")}
	}
	return append(errs, validateVolumeName(v, pod, p.Child("name"))...)
}

// validateVolumeName judges names that come to be from the volume's: of a claim, or of an initiator.
func validateVolumeName(v *corev1.Volume, pod string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := v.ISCSI; s != nil && s.InitiatorName != nil && len(v.Name+":"+s.TargetPortal) > 64 {
		errs = append(errs, field.Invalid(p, v.Name, "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."))
	}
	if v.Ephemeral != nil && pod != "" && v.Name != "" {
		claim := pod + "-" + v.Name
		for _, text := range apivalidation.NameIsDNSSubdomain(claim, false) {
			errs = append(errs, field.Invalid(p, v.Name, `PVC name "`+claim+`": `+text))
		}
	}
	return errs
}

// need demands values, given by name and value in turn.
func need(pairs ...string) func(*field.Path) field.ErrorList {
	return func(p *field.Path) field.ErrorList {
		var errs field.ErrorList
		for i := 0; i < len(pairs); i += 2 {
			errs = append(errs, rules.Required(p.Child(pairs[i]), pairs[i+1])...)
		}
		return errs
	}
}

// ownSources are the cluster's and the node's.
func ownSources(s *corev1.VolumeSource) []source {
	return []source{
		{"emptyDir", s.EmptyDir != nil, func(p *field.Path) field.ErrorList { return validateEmptyDir(s.EmptyDir, p) }},
		{"hostPath", s.HostPath != nil, func(p *field.Path) field.ErrorList { return ValidateHostPath(s.HostPath, p) }},
		{"gitRepo", s.GitRepo != nil, func(p *field.Path) field.ErrorList {
			return append(need("repository", s.GitRepo.Repository)(p), localPath(s.GitRepo.Directory, p.Child("directory"))...)
		}},
		{"persistentDisk", s.GCEPersistentDisk != nil, func(p *field.Path) field.ErrorList {
			return append(need("pdName", s.GCEPersistentDisk.PDName)(p), volume.ValidatePartition(s.GCEPersistentDisk.Partition, p)...)
		}},
		{"awsElasticBlockStore", s.AWSElasticBlockStore != nil, func(p *field.Path) field.ErrorList {
			return append(need("volumeID", s.AWSElasticBlockStore.VolumeID)(p), volume.ValidatePartition(s.AWSElasticBlockStore.Partition, p)...)
		}},
		{"secret", s.Secret != nil, func(p *field.Path) field.ErrorList {
			errs := need("secretName", s.Secret.SecretName)(p)
			errs = append(errs, validateModes(s.Secret.DefaultMode, s.Secret.DefaultUser, p)...)
			return append(errs, validateItems(s.Secret.Items, p.Child("items"))...)
		}},
	}
}

// networkSources are other machines'.
func networkSources(s *corev1.VolumeSource) []source {
	return []source{
		{"nfs", s.NFS != nil, func(p *field.Path) field.ErrorList { return ValidateNFS(s.NFS, p) }},
		{"iscsi", s.ISCSI != nil, func(p *field.Path) field.ErrorList { return validateISCSI(s.ISCSI, p) }},
		{"glusterfs", s.Glusterfs != nil, func(p *field.Path) field.ErrorList {
			return need("endpoints", s.Glusterfs.EndpointsName, "path", s.Glusterfs.Path)(p)
		}},
		{"flocker", s.Flocker != nil, func(p *field.Path) field.ErrorList { return volume.ValidateFlocker(s.Flocker, p) }},
		{"persistentVolumeClaim", s.PersistentVolumeClaim != nil, func(p *field.Path) field.ErrorList {
			return need("claimName", s.PersistentVolumeClaim.ClaimName)(p)
		}},
		{"rbd", s.RBD != nil, func(p *field.Path) field.ErrorList {
			return need("monitors", strings.Join(s.RBD.CephMonitors, ","), "image", s.RBD.RBDImage)(p)
		}},
		{"cinder", s.Cinder != nil, func(p *field.Path) field.ErrorList {
			return append(need("volumeID", s.Cinder.VolumeID)(p), secretRef(s.Cinder.SecretRef, p)...)
		}},
		{"cephfs", s.CephFS != nil, func(p *field.Path) field.ErrorList { return need("monitors", strings.Join(s.CephFS.Monitors, ","))(p) }},
		{"quobyte", s.Quobyte != nil, func(p *field.Path) field.ErrorList { return volume.ValidateQuobyte(s.Quobyte, p) }},
		{"downwardAPI", s.DownwardAPI != nil, func(p *field.Path) field.ErrorList {
			return append(validateModes(s.DownwardAPI.DefaultMode, s.DownwardAPI.DefaultUser, p), validateDownward(s.DownwardAPI.Items, p)...)
		}},
		{"fc", s.FC != nil, func(p *field.Path) field.ErrorList { return volume.ValidateFC(s.FC, p) }},
		{"flexVolume", s.FlexVolume != nil, func(p *field.Path) field.ErrorList {
			return append(need("driver", s.FlexVolume.Driver)(p), volume.ValidateFlexOptions(s.FlexVolume.Options, p.Child("options"))...)
		}},
	}
}

// lastSources are those that upstream looks at last.
func lastSources(s *corev1.VolumeSource) []source {
	return []source{
		{"configMap", s.ConfigMap != nil, func(p *field.Path) field.ErrorList {
			errs := need("name", s.ConfigMap.Name)(p)
			errs = append(errs, validateModes(s.ConfigMap.DefaultMode, s.ConfigMap.DefaultUser, p)...)
			return append(errs, validateItems(s.ConfigMap.Items, p.Child("items"))...)
		}},
		{"azureFile", s.AzureFile != nil, func(p *field.Path) field.ErrorList {
			return need("secretName", s.AzureFile.SecretName, "shareName", s.AzureFile.ShareName)(p)
		}},
		{"vsphereVolume", s.VsphereVolume != nil, func(p *field.Path) field.ErrorList { return need("volumePath", s.VsphereVolume.VolumePath)(p) }},
		{"photonPersistentDisk", s.PhotonPersistentDisk != nil, func(p *field.Path) field.ErrorList { return need("pdID", s.PhotonPersistentDisk.PdID)(p) }},
		{"portworxVolume", s.PortworxVolume != nil, func(p *field.Path) field.ErrorList { return need("volumeID", s.PortworxVolume.VolumeID)(p) }},
		{"azureDisk", s.AzureDisk != nil, func(p *field.Path) field.ErrorList {
			return append(need("diskName", s.AzureDisk.DiskName, "diskURI", s.AzureDisk.DataDiskURI)(p), volume.ValidateAzureDisk(s.AzureDisk, p)...)
		}},
		{"storageos", s.StorageOS != nil, func(p *field.Path) field.ErrorList { return validateStorageOS(s.StorageOS, p) }},
		{"projected", s.Projected != nil, func(p *field.Path) field.ErrorList {
			return append(validateModes(s.Projected.DefaultMode, s.Projected.DefaultUser, p), validateProjected(s.Projected, p)...)
		}},
		{"scaleIO", s.ScaleIO != nil, func(p *field.Path) field.ErrorList {
			return need("gateway", s.ScaleIO.Gateway, "system", s.ScaleIO.System, "volumeName", s.ScaleIO.VolumeName)(p)
		}},
		{"csi", s.CSI != nil, func(p *field.Path) field.ErrorList { return validateCSI(s.CSI, p) }},
		{"ephemeral", s.Ephemeral != nil, func(p *field.Path) field.ErrorList { return validateEphemeralVolume(s.Ephemeral, p) }},
		{"image", s.Image != nil, func(p *field.Path) field.ErrorList {
			return append(need("reference", s.Image.Reference)(p), supported(p.Child("pullPolicy"), s.Image.PullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
		}},
	}
}

func validateModes(mode *int32, user *int64, p *field.Path) field.ErrorList {
	return append(validateMode(mode, p.Child("defaultMode")), validateID(user, p.Child("defaultUser"))...)
}

func secretRef(r *corev1.LocalObjectReference, p *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return rules.Required(p.Child("secretRef", "name"), r.Name)
}

func validateEmptyDir(e *corev1.EmptyDirVolumeSource, p *field.Path) field.ErrorList {
	if q := e.SizeLimit; q != nil && q.Sign() < 0 {
		return field.ErrorList{field.Forbidden(p.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")}
	}
	return nil
}

func validateISCSI(s *corev1.ISCSIVolumeSource, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("targetPortal"), s.TargetPortal)
	if s.IQN == "" {
		errs = append(errs, field.Required(p.Child("iqn"), ""))
	} else {
		errs = append(errs, validateInitiator(s.IQN, p.Child("iqn"))...)
	}
	if s.Lun < 0 || s.Lun > volume.MaxLUN {
		errs = append(errs, field.Invalid(p.Child("lun"), s.Lun, validation.InclusiveRangeError(0, volume.MaxLUN)))
	}
	if (s.DiscoveryCHAPAuth || s.SessionCHAPAuth) && s.SecretRef == nil {
		errs = append(errs, field.Required(p.Child("secretRef"), ""))
	}
	if n := s.InitiatorName; n != nil {
		errs = append(errs, validateInitiator(*n, p.Child("initiatorname"))...)
	}
	return errs
}

func validateInitiator(name string, p *field.Path) field.ErrorList {
	switch {
	case !strings.HasPrefix(name, "iqn") && !strings.HasPrefix(name, "eui") && !strings.HasPrefix(name, "naa"):
		return field.ErrorList{field.Invalid(p, name, "must be valid format starting with iqn, eui, or naa")}
	case !volume.IsInitiator(name):
		return field.ErrorList{field.Invalid(p, name, "must be valid format")}
	}
	return nil
}

func validateStorageOS(s *corev1.StorageOSVolumeSource, p *field.Path) field.ErrorList {
	errs := rules.Required(p.Child("volumeName"), s.VolumeName)
	if s.VolumeName != "" {
		errs = append(errs, invalid(p.Child("volumeName"), s.VolumeName, validation.IsDNS1123Label(s.VolumeName))...)
	}
	if s.VolumeNamespace != "" {
		errs = append(errs, invalid(p.Child("volumeNamespace"), s.VolumeNamespace, validation.IsDNS1123Label(s.VolumeNamespace))...)
	}
	return append(errs, secretRef(s.SecretRef, p)...)
}

func validateCSI(s *corev1.CSIVolumeSource, p *field.Path) field.ErrorList {
	const longest = 63
	errs := rules.Required(p.Child("driver"), s.Driver)
	if s.Driver != "" {
		if len(s.Driver) > longest {
			errs = append(errs, field.TooLong(p.Child("driver"), "", longest))
		}
		errs = append(errs, invalid(p.Child("driver"), s.Driver, validation.IsDNS1123Subdomain(strings.ToLower(s.Driver)))...)
	}
	if r := s.NodePublishSecretRef; r != nil && r.Name != "" {
		return append(errs, invalid(p.Child("name"), r.Name, apivalidation.NameIsDNSSubdomain(r.Name, false))...)
	} else if r != nil {
		errs = append(errs, field.Required(p.Child("nodePublishSecretRef", "name"), ""))
	}
	return errs
}

// validateEphemeralVolume judges the claim that is made with a pod: its labels and annotations are all that its metadata may have.
func validateEphemeralVolume(e *corev1.EphemeralVolumeSource, p *field.Path) field.ErrorList {
	p = p.Child("volumeClaimTemplate")
	t := e.VolumeClaimTemplate
	if t == nil {
		return field.ErrorList{field.Required(p, "")}
	}
	meta := p.Child("metadata")
	errs := apivalidation.ValidateAnnotations(t.Annotations, meta.Child("annotations"))
	errs = append(errs, unversioned.ValidateLabels(t.Labels, meta.Child("labels"))...)
	errs = append(errs, onlyLabels(&t.ObjectMeta, meta)...)
	return append(errs, volume.ValidateClaim(&t.Spec, p.Child("spec"))...)
}

func onlyLabels(m *metav1.ObjectMeta, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, x := range []struct {
		name string
		set  bool
	}{
		{"name", m.Name != ""}, {"generateName", m.GenerateName != ""}, {"namespace", m.Namespace != ""}, {"uid", m.UID != ""},
		{"resourceVersion", m.ResourceVersion != ""}, {"ownerReferences", len(m.OwnerReferences) > 0}, {"finalizers", len(m.Finalizers) > 0},
	} {
		if x.set {
			errs = append(errs, field.Forbidden(p.Child(x.name), "cannot be set"))
		}
	}
	return errs
}
