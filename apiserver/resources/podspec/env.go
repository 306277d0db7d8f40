package podspec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateEnv(vars []corev1.EnvVar, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, e := range vars {
		at := p.Index(i)
		if e.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, invalid(at.Child("name"), e.Name, validation.IsRelaxedEnvVarName(e.Name))...)
		}
		if e.ValueFrom != nil {
			errs = append(errs, validateEnvSource(&e, at.Child("valueFrom"))...)
		}
	}
	return errs
}

// validateEnvFrom judges sources of many variables. That there are none or too many is said of the list as a whole.
func validateEnvFrom(from []corev1.EnvFromSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, e := range from {
		at := p.Index(i)
		if e.Prefix != "" {
			errs = append(errs, invalid(at.Child("prefix"), e.Prefix, validation.IsRelaxedEnvVarName(e.Prefix))...)
		}
		sources := 0
		if e.ConfigMapRef != nil {
			sources++
			errs = append(errs, validateRefName(e.ConfigMapRef.Name, at.Child("configMapRef", "name"))...)
		}
		if e.SecretRef != nil {
			sources++
			errs = append(errs, validateRefName(e.SecretRef.Name, at.Child("secretRef", "name"))...)
		}
		switch {
		case sources == 0:
			errs = append(errs, field.Invalid(p, "", "must specify one of: `configMapRef` or `secretRef`"))
		case sources > 1:
			errs = append(errs, field.Invalid(p, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

func validateRefName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return invalid(p, name, apivalidation.NameIsDNSSubdomain(name, true))
}

// envFields are the pod's fields that a variable may take.
var envFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}

func validateEnvSource(e *corev1.EnvVar, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	sources := 0
	if f := e.ValueFrom.FieldRef; f != nil {
		sources++
		errs = append(errs, validateFieldRef(f, envFields, p.Child("fieldRef"))...)
	}
	if r := e.ValueFrom.ResourceFieldRef; r != nil {
		sources++
		errs = append(errs, validateResourceFieldRef(r, false, p.Child("resourceFieldRef"))...)
	}
	if k := e.ValueFrom.ConfigMapKeyRef; k != nil {
		sources++
		errs = append(errs, validateKeyRef(k.Name, k.Key, p.Child("configMapKeyRef"))...)
	}
	if k := e.ValueFrom.SecretKeyRef; k != nil {
		sources++
		errs = append(errs, validateKeyRef(k.Name, k.Key, p.Child("secretKeyRef"))...)
	}
	if k := e.ValueFrom.FileKeyRef; k != nil {
		sources++
		errs = append(errs, validateFileKeyRef(k, p.Child("fileKeyRef"))...)
	}
	switch {
	case sources == 0:
		errs = append(errs, field.Invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case e.Value != "":
		errs = append(errs, field.Invalid(p, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		errs = append(errs, field.Invalid(p, "", "may not have more than one field specified at a time"))
	}
	return errs
}

func validateKeyRef(name, key string, p *field.Path) field.ErrorList {
	errs := invalid(p.Child("name"), name, apivalidation.NameIsDNSSubdomain(name, false))
	if key == "" {
		return append(errs, field.Required(p.Child("key"), ""))
	}
	return append(errs, invalid(p.Child("key"), key, validation.IsConfigMapKey(key))...)
}

func validateFileKeyRef(k *corev1.FileKeySelector, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	judge := func(name, v string, rule func(*field.Path) field.ErrorList) {
		if v == "" {
			errs = append(errs, field.Required(p.Child(name), ""))
			return
		}
		errs = append(errs, rule(p.Child(name))...)
	}
	judge("key", k.Key, func(at *field.Path) field.ErrorList { return invalid(at, k.Key, validation.IsRelaxedEnvVarName(k.Key)) })
	judge("volumeName", k.VolumeName, func(at *field.Path) field.ErrorList {
		return invalid(at, k.VolumeName, validation.IsDNS1123Label(k.VolumeName))
	})
	judge("path", k.Path, func(at *field.Path) field.ErrorList { return noBackstep(k.Path, at) })
	return errs
}

// validateFileKeyVolumes: variables are read from files of an emptyDir.
func validateFileKeyVolumes(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	by := map[string]*corev1.Volume{}
	for i := range s.Volumes {
		by[s.Volumes[i].Name] = &s.Volumes[i]
	}
	visit(s, p, func(c *corev1.Container, at *field.Path) {
		for i, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.FileKeyRef == nil {
				continue
			}
			name, at := e.ValueFrom.FileKeyRef.VolumeName, at.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			switch v := by[name]; {
			case v == nil:
				errs = append(errs, field.NotFound(at, name))
			case v.EmptyDir == nil:
				errs = append(errs, field.Invalid(at, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}

func validateFieldRef(f *corev1.ObjectFieldSelector, allowed []string, p *field.Path) field.ErrorList {
	if f.APIVersion == "" {
		return field.ErrorList{field.Required(p.Child("apiVersion"), "")}
	}
	if f.FieldPath == "" {
		return field.ErrorList{field.Required(p.Child("fieldPath"), "")}
	}
	label, err := podField(f.APIVersion, f.FieldPath)
	if err != nil {
		return field.ErrorList{field.Invalid(p.Child("fieldPath"), f.FieldPath, fmt.Sprintf("error converting fieldPath: %v", err))}
	}
	switch base, key, ok := subscripted(label); {
	case ok && base == "metadata.annotations":
		return invalid(p, strings.ToLower(key), validation.IsQualifiedName(strings.ToLower(key)))
	case ok:
		return invalid(p, key, validation.IsQualifiedName(key))
	case !slices.Contains(allowed, label):
		return field.ErrorList{field.NotSupported(p.Child("fieldPath"), label, allowed)}
	}
	return nil
}

// podFields are the fields of a pod that have a label at all.
var podFields = []string{
	"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.restartPolicy",
	"spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
}

// podField finds the field that a label of a version names.
func podField(version, label string) (string, error) {
	if version != "v1" {
		return "", errors.New("unsupported pod version: " + version)
	}
	base, _, ok := subscripted(label)
	switch {
	case ok && base != "metadata.annotations" && base != "metadata.labels":
		return "", errors.New("field label does not support subscript: " + label)
	case ok || slices.Contains(podFields, label):
		return label, nil
	case label == "spec.host":
		// The name that spec.nodeName had before v1.
		return "spec.nodeName", nil
	}
	return "", errors.New("field label not supported: " + label)
}

// subscripted splits a path such as metadata.labels['key'].
func subscripted(s string) (base, key string, ok bool) {
	if !strings.HasSuffix(s, "']") {
		return "", "", false
	}
	base, key, ok = strings.Cut(strings.TrimSuffix(s, "']"), "['")
	return base, key, ok && base != ""
}

// containerResources are the resources that a variable or a file may take.
var containerResources = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}

func validateResourceFieldRef(r *corev1.ResourceFieldSelector, volume bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case volume && r.ContainerName == "":
		errs = append(errs, field.Required(p.Child("containerName"), ""))
	case r.Resource == "":
		errs = append(errs, field.Required(p.Child("resource"), ""))
	case !slices.Contains(containerResources, r.Resource) && !isHugePagesField(r.Resource):
		errs = append(errs, field.NotSupported(p.Child("resource"), r.Resource, containerResources))
	}
	return append(errs, validateDivisor(r.Resource, r.Divisor, p.Child("divisor"))...)
}

func isHugePagesField(name string) bool {
	return strings.HasPrefix(name, "limits.hugepages-") || strings.HasPrefix(name, "requests.hugepages-")
}

// byteDivisors are the units in which bytes can be given.
var byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}

// validateDivisor judges the unit in which a resource is given.
func validateDivisor(name string, d resource.Quantity, p *field.Path) field.ErrorList {
	if d.IsZero() {
		return nil
	}
	units, what := byteDivisors, ""
	_, base, _ := strings.Cut(name, ".")
	switch {
	case base == "cpu":
		units, what = []string{"1m", "1"}, "cpu"
	case base == "memory":
		what = "memory"
	case base == "ephemeral-storage":
		what = "local ephemeral storage"
	case isHugePagesField(name):
		what = "hugepages"
	default:
		return nil
	}
	if slices.Contains(units, d.String()) {
		return nil
	}
	listed := strings.Join(units, ", ")
	if what == "cpu" {
		listed = strings.Join(units, " and ")
	}
	return field.ErrorList{field.Invalid(p, name, fmt.Sprintf("only divisor's values %s are supported with the %s resource", listed, what))}
}
