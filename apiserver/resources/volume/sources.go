package volume

import (
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var (
	iqn = regexp.MustCompile(`^iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`)
	eui = regexp.MustCompile(`^eui.[[:alnum:]]{16}$`)
	naa = regexp.MustCompile(`^naa.[[:alnum:]]{32}$`)
)

// IsInitiator says whether a name is one of iSCSI's three sorts.
func IsInitiator(name string) bool {
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

// MaxLUN is the highest number of a disk behind one target.
const MaxLUN = 255

// ValidateFC judges a disk behind Fibre Channel.
func ValidateFC(s *corev1.FCVolumeSource, p *field.Path) field.ErrorList {
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
	case *s.Lun < 0 || *s.Lun > MaxLUN:
		errs = append(errs, field.Invalid(p.Child("lun"), s.Lun, validation.InclusiveRangeError(0, MaxLUN)))
	}
	return errs
}

// ValidatePartition judges the number of a disk's partition; 0 is the whole disk.
func ValidatePartition(n int32, p *field.Path) field.ErrorList {
	if n < 0 || n > MaxLUN {
		return field.ErrorList{field.Invalid(p.Child("partition"), n, validation.InclusiveRangeError(1, MaxLUN))}
	}
	return nil
}

// ValidateFlocker judges a data set of Flocker.
func ValidateFlocker(s *corev1.FlockerVolumeSource, p *field.Path) field.ErrorList {
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

// ValidateQuobyte judges a volume of Quobyte.
func ValidateQuobyte(s *corev1.QuobyteVolumeSource, p *field.Path) field.ErrorList {
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

// ValidateAzureDisk judges how a disk of Azure is reached.
func ValidateAzureDisk(s *corev1.AzureDiskVolumeSource, p *field.Path) field.ErrorList {
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

// ValidateFlexOptions judges the options of a driver: those in the system's own namespaces are the system's.
func ValidateFlexOptions(options map[string]string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, k := range slices.Sorted(maps.Keys(options)) {
		domain, _, _ := strings.Cut(k, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(p.Key(k), k, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}
