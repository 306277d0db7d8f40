package podspec

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes judges volumes and gives them by name, for the mounts to be looked up.
func validateVolumes(vs []corev1.Volume, pod string, p *field.Path) (map[string]*corev1.Volume, field.ErrorList) {
	var errs field.ErrorList
	by := map[string]*corev1.Volume{}
	made := madeClaims(vs, pod)
	for i := range vs {
		v, at := &vs[i], p.Index(i)
		found := validateSource(v, pod, at)
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
		if c := v.PersistentVolumeClaim; c != nil && made.Has(c.ClaimName) {
			errs = append(errs, field.Invalid(at.Child("persistentVolumeClaim", "claimName"), c.ClaimName, "must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return by, errs
}

// madeClaims names the claims that will be made for a pod of a name.
func madeClaims(vs []corev1.Volume, pod string) sets.Set[string] {
	out := sets.Set[string]{}
	for i := range vs {
		if pod != "" && vs[i].Ephemeral != nil {
			out.Insert(pod + "-" + vs[i].Name)
		}
	}
	return out
}

// ValidateNFS judges a share of a file server.
func ValidateNFS(n *corev1.NFSVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if n.Server == "" {
		errs = append(errs, field.Required(p.Child("server"), ""))
	}
	if n.Path == "" {
		errs = append(errs, field.Required(p.Child("path"), ""))
	}
	if !path.IsAbs(n.Path) {
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
		errs = append(errs, validateID(it.User, at.Child("user"))...)
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

// validateDownward judges files that show a pod to itself. Upstream does not say which file is wrong.
func validateDownward(items []corev1.DownwardAPIVolumeFile, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, it := range items {
		if it.Path == "" {
			errs = append(errs, field.Required(p.Child("path"), ""))
		}
		errs = append(errs, localName(it.Path, p.Child("path"))...)
		switch {
		case it.FieldRef != nil:
			errs = append(errs, validateFieldRef(it.FieldRef, fileFields, p.Child("fieldRef"))...)
			if it.ResourceFieldRef != nil {
				errs = append(errs, field.Invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
			}
		case it.ResourceFieldRef != nil:
			errs = append(errs, validateResourceFieldRef(it.ResourceFieldRef, true, p.Child("resourceFieldRef"))...)
		default:
			errs = append(errs, field.Required(p, "one of fieldRef and resourceFieldRef is required"))
		}
		errs = append(errs, validateMode(it.Mode, p.Child("mode"))...)
		errs = append(errs, validateID(it.User, p.Child("user"))...)
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
			errs = append(errs, itemsTaken(s.Secret.Items, s.Secret.Name, taken, p)...)
		}
		if s.ConfigMap != nil {
			n++
			if s.ConfigMap.Name == "" {
				errs = append(errs, field.Required(at.Child("configMap", "name"), ""))
			}
			errs = append(errs, validateItems(s.ConfigMap.Items, at.Child("configMap", "items"))...)
			errs = append(errs, itemsTaken(s.ConfigMap.Items, s.ConfigMap.Name, taken, p)...)
		}
		if s.DownwardAPI != nil {
			n++
			errs = append(errs, validateDownward(s.DownwardAPI.Items, at.Child("downwardAPI"))...)
			errs = append(errs, takenTwice(filePaths(s.DownwardAPI.Items), taken, p)...)
		}
		if t := s.ServiceAccountToken; t != nil {
			n++
			errs = append(errs, validateToken(t, p, at.Child("serviceAccountToken"))...)
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

// itemsTaken refuses a second file at one place; the error shows whose it is.
func itemsTaken(items []corev1.KeyToPath, whose string, taken sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, it := range items {
		if it.Path != "" && taken.Has(it.Path) {
			errs = append(errs, field.Invalid(p, whose, "conflicting duplicate paths"))
		}
		taken.Insert(it.Path)
	}
	return errs
}

func filePaths(items []corev1.DownwardAPIVolumeFile) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Path)
	}
	return out
}

func takenTwice(paths []string, taken sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, v := range paths {
		if v != "" && taken.Has(v) {
			errs = append(errs, field.Invalid(p, v, "conflicting duplicate paths"))
		}
		taken.Insert(v)
	}
	return errs
}

// validateToken judges a token for the pod's account. What is wrong with its path is said of the volume, as upstream does.
func validateToken(t *corev1.ServiceAccountTokenProjection, volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch s := t.ExpirationSeconds; {
	case s == nil:
		errs = append(errs, field.Required(p.Child("expirationSeconds"), ""))
	case *s < 10*60:
		errs = append(errs, field.Invalid(p.Child("expirationSeconds"), *s, "may not specify a duration less than 10 minutes"))
	case *s > 1<<32:
		errs = append(errs, field.Invalid(p.Child("expirationSeconds"), *s, "may not specify a duration larger than 2^32 seconds"))
	}
	if t.Path == "" {
		errs = append(errs, field.Required(volume.Child("path"), ""))
	} else {
		errs = append(errs, localName(t.Path, volume.Child("path"))...)
	}
	return append(errs, validateID(t.User, p.Child("user"))...)
}
