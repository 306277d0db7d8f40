package podspec

import (
	"path"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes judges volumes and gives them by name, for the mounts to be looked up.
func validateVolumes(vs []corev1.Volume, p *field.Path) (map[string]*corev1.Volume, field.ErrorList) {
	var errs field.ErrorList
	by := map[string]*corev1.Volume{}
	for i := range vs {
		v, at := &vs[i], p.Index(i)
		found := validateSource(v, at)
		switch {
		case v.Name == "":
			found = append(found, field.Required(at.Child("name"), ""))
		default:
			found = append(found, invalid(at.Child("name"), v.Name, validation.IsDNS1123Label(v.Name))...)
		}
		if by[v.Name] != nil {
			found = append(found, field.Duplicate(at.Child("name"), v.Name))
		}
		if len(found) == 0 {
			by[v.Name] = v
		} else {
			errs = append(errs, found...)
		}
	}
	return by, errs
}

// sources names the sources that are set, as the API calls them.
func sources(s *corev1.VolumeSource) []string {
	var out []string
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			name, _, _ := cutTag(v.Type().Field(i).Tag.Get("json"))
			out = append(out, name)
		}
	}
	return out
}

func cutTag(tag string) (string, string, bool) {
	for i := range tag {
		if tag[i] == ',' {
			return tag[:i], tag[i+1:], true
		}
	}
	return tag, "", false
}

func validateSource(v *corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sources(&v.VolumeSource)
	if len(names) == 0 {
		return field.ErrorList{field.Required(p, "must specify a volume type")}
	}
	for _, extra := range names[1:] {
		errs = append(errs, field.Forbidden(p.Child(extra), "may not specify more than 1 volume type"))
	}
	at := p.Child(names[0])
	s := &v.VolumeSource
	switch {
	case s.EmptyDir != nil:
		if q := s.EmptyDir.SizeLimit; q != nil && q.Sign() < 0 {
			errs = append(errs, field.Forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity"))
		}
	case s.HostPath != nil:
		errs = append(errs, ValidateHostPath(s.HostPath, at)...)
	case s.Secret != nil:
		if s.Secret.SecretName == "" {
			errs = append(errs, field.Required(at.Child("secretName"), ""))
		}
		errs = append(errs, validateMode(s.Secret.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateItems(s.Secret.Items, at.Child("items"))...)
	case s.ConfigMap != nil:
		if s.ConfigMap.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		errs = append(errs, validateMode(s.ConfigMap.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateItems(s.ConfigMap.Items, at.Child("items"))...)
	case s.DownwardAPI != nil:
		errs = append(errs, validateMode(s.DownwardAPI.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateDownward(s.DownwardAPI.Items, at.Child("items"))...)
	case s.Projected != nil:
		errs = append(errs, validateMode(s.Projected.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateProjected(s.Projected, at)...)
	case s.PersistentVolumeClaim != nil:
		if s.PersistentVolumeClaim.ClaimName == "" {
			errs = append(errs, field.Required(at.Child("claimName"), ""))
		}
	case s.NFS != nil:
		errs = append(errs, ValidateNFS(s.NFS, at)...)
	case s.CSI != nil:
		if s.CSI.Driver == "" {
			errs = append(errs, field.Required(at.Child("driver"), ""))
		}
	}
	return errs
}

// ValidateNFS judges a share of a file server.
func ValidateNFS(n *corev1.NFSVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n.Server == "" {
		errs = append(errs, field.Required(p.Child("server"), ""))
	}
	if n.Path == "" {
		errs = append(errs, field.Required(p.Child("path"), ""))
	} else if !path.IsAbs(n.Path) {
		errs = append(errs, field.Invalid(p.Child("path"), n.Path, "must be an absolute path"))
	}
	return errs
}

// hostPathTypes are what a path on the host may have to be.
var hostPathTypes = []corev1.HostPathType{
	corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate,
	corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket,
}

// ValidateHostPath judges a path on the host.
func ValidateHostPath(h *corev1.HostPathVolumeSource, p *field.Path) field.ErrorList {
	if h.Path == "" {
		return field.ErrorList{field.Required(p.Child("path"), "")}
	}
	errs := noBackstep(h.Path, p.Child("path"))
	if h.Type == nil {
		return errs
	}
	for _, t := range hostPathTypes {
		if *h.Type == t {
			return errs
		}
	}
	return append(errs, field.NotSupported(p.Child("type"), *h.Type, hostPathTypes))
}

func validateMode(mode *int32, p *field.Path) field.ErrorList {
	if mode != nil && (*mode < 0 || *mode > 0o777) {
		return field.ErrorList{field.Invalid(p, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
	}
	return nil
}

func validateItems(items []corev1.KeyToPath, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, it := range items {
		at := p.Index(i)
		if it.Key == "" {
			errs = append(errs, field.Required(at.Child("key"), ""))
		}
		if it.Path == "" {
			errs = append(errs, field.Required(at.Child("path"), ""))
		}
		errs = append(errs, localName(it.Path, at.Child("path"))...)
		errs = append(errs, validateMode(it.Mode, at.Child("mode"))...)
	}
	return errs
}

// localName: a relative path, never up, that does not begin with two dots.
func localName(v string, p *field.Path) field.ErrorList {
	errs := localPath(v, p)
	if len(v) >= 2 && v[:2] == ".." && (len(v) == 2 || v[2] != '/') && v != ".." {
		errs = append(errs, field.Invalid(p, v, "must not start with '..'"))
	}
	return errs
}

// fileFields are the pod's fields that a file may show.
var fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

func validateDownward(items []corev1.DownwardAPIVolumeFile, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, it := range items {
		at := p.Index(i)
		if it.Path == "" {
			errs = append(errs, field.Required(at.Child("path"), ""))
		}
		errs = append(errs, localName(it.Path, at.Child("path"))...)
		switch {
		case it.FieldRef != nil:
			errs = append(errs, validateFieldRef(it.FieldRef, fileFields, at.Child("fieldRef"))...)
			if it.ResourceFieldRef != nil {
				errs = append(errs, field.Invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
			}
		case it.ResourceFieldRef != nil:
			errs = append(errs, validateResourceFieldRef(it.ResourceFieldRef, true, at.Child("resourceFieldRef"))...)
		default:
			errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
		}
		errs = append(errs, validateMode(it.Mode, at.Child("mode"))...)
	}
	return errs
}

func validateProjected(pv *corev1.ProjectedVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := sets.Set[string]{}
	for i, s := range pv.Sources {
		at := p.Child("sources").Index(i)
		n := 0
		if s.Secret != nil {
			n++
			if s.Secret.Name == "" {
				errs = append(errs, field.Required(at.Child("secret", "name"), ""))
			}
			errs = append(errs, validateItems(s.Secret.Items, at.Child("secret", "items"))...)
		}
		if s.ConfigMap != nil {
			n++
			if s.ConfigMap.Name == "" {
				errs = append(errs, field.Required(at.Child("configMap", "name"), ""))
			}
			errs = append(errs, validateItems(s.ConfigMap.Items, at.Child("configMap", "items"))...)
		}
		if s.DownwardAPI != nil {
			n++
			errs = append(errs, validateDownward(s.DownwardAPI.Items, at.Child("downwardAPI", "items"))...)
		}
		if t := s.ServiceAccountToken; t != nil {
			n++
			errs = append(errs, validateToken(t, at.Child("serviceAccountToken"))...)
		}
		if b := s.ClusterTrustBundle; b != nil {
			n++
			errs = append(errs, validateTrustBundle(b, taken, p, at.Child("clusterTrustBundle"))...)
		}
		if c := s.PodCertificate; c != nil {
			n++
			errs = append(errs, validateCertificate(c, taken, p, at.Child("podCertificate"))...)
		}
		if n > 1 {
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type per source"))
		}
	}
	return errs
}

func validateToken(t *corev1.ServiceAccountTokenProjection, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := t.ExpirationSeconds; s != nil {
		if *s < 10*60 {
			errs = append(errs, field.Invalid(p.Child("expirationSeconds"), *s, "may not specify a duration less than 10 minutes"))
		}
		if *s > 1<<32 {
			errs = append(errs, field.Invalid(p.Child("expirationSeconds"), *s, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	if t.Path == "" {
		return append(errs, field.Required(p.Child("path"), ""))
	}
	return append(errs, localName(t.Path, p.Child("path"))...)
}
