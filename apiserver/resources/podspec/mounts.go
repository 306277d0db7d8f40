package podspec

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// bindMountOptions are the options that a mount may ask for.
var bindMountOptions = []string{string(corev1.BindMountOptionNoDev), string(corev1.BindMountOptionNoExec), string(corev1.BindMountOptionNoSUID)}

// validateMounts judges mounts. Upstream says some faults of the list as a whole, and so do we.
func validateMounts(c *corev1.Container, volumes map[string]*corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	devices, devicePaths := sets.Set[string]{}, sets.Set[string]{}
	for _, d := range c.VolumeDevices {
		devices.Insert(d.Name)
		devicePaths.Insert(d.DevicePath)
	}
	seen := sets.Set[string]{}
	for i, m := range c.VolumeMounts {
		at := p.Index(i)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if volumes[m.Name] == nil {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if seen.Has(m.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		seen.Insert(m.MountPath)
		if devices.Has(m.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), m.Name, "must not already exist in volumeDevices"))
		}
		if devicePaths.Has(m.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, validateMountOptions(&m, c, volumes[m.Name], p, at)...)
	}
	return errs
}

func validateMountOptions(m *corev1.VolumeMount, c *corev1.Container, v *corev1.Volume, p, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if m.SubPath != "" {
		errs = append(errs, localPath(m.SubPath, p.Child("subPath"))...)
	}
	if m.SubPathExpr != "" {
		if m.SubPath != "" {
			errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
		}
		errs = append(errs, localPath(m.SubPathExpr, p.Child("subPathExpr"))...)
	}
	errs = append(errs, validatePropagation(m.MountPropagation, c, p.Child("mountPropagation"))...)
	errs = append(errs, validateRecursiveReadOnly(m, p.Child("recursiveReadOnly"))...)
	seen := sets.Set[string]{}
	for i, o := range m.BindMountOptions {
		if !slices.Contains(bindMountOptions, o) {
			errs = append(errs, field.NotSupported(at.Child("bindMountOptions").Index(i), o, bindMountOptions))
		}
		if seen.Has(o) {
			errs = append(errs, field.Duplicate(at.Child("bindMountOptions").Index(i), o))
		}
		seen.Insert(o)
	}
	if len(m.BindMountOptions) > 0 && v != nil && v.Image != nil {
		errs = append(errs, field.Invalid(at.Child("bindMountOptions"), m.BindMountOptions, "bindMountOptions may not be used with image volumes"))
	}
	return errs
}

// validatePropagation: what a container mounts reaches the host only from a privileged one.
func validatePropagation(m *corev1.MountPropagationMode, c *corev1.Container, p *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	all := []corev1.MountPropagationMode{corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone}
	if !slices.Contains(all, *m) {
		return field.ErrorList{field.NotSupported(p, *m, all)}
	}
	privileged := c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	if *m == corev1.MountPropagationBidirectional && !privileged {
		return field.ErrorList{field.Forbidden(p, "Bidirectional mount propagation is available only to privileged containers")}
	}
	return nil
}

func validateRecursiveReadOnly(m *corev1.VolumeMount, p *field.Path) field.ErrorList {
	if m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == corev1.RecursiveReadOnlyDisabled {
		return nil
	}
	all := []corev1.RecursiveReadOnlyMode{corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible}
	if !slices.Contains(all, *m.RecursiveReadOnly) {
		return field.ErrorList{field.NotSupported(p, *m.RecursiveReadOnly, all)}
	}
	var errs field.ErrorList
	if !m.ReadOnly {
		errs = append(errs, field.Forbidden(p, "may only be specified when readOnly is true"))
	}
	if m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(p, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

// validateDevices judges volumes that a container has as block devices: claims alone can be.
func validateDevices(c *corev1.Container, volumes map[string]*corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	mounts, mountPaths := sets.Set[string]{}, sets.Set[string]{}
	for _, m := range c.VolumeMounts {
		mounts.Insert(m.Name)
		mountPaths.Insert(m.MountPath)
	}
	names, paths := sets.Set[string]{}, sets.Set[string]{}
	for i, d := range c.VolumeDevices {
		name, where := p.Index(i).Child("name"), p.Index(i).Child("devicePath")
		if d.Name == "" {
			errs = append(errs, field.Required(name, ""))
		}
		if names.Has(d.Name) {
			errs = append(errs, field.Invalid(name, d.Name, "must be unique"))
		}
		switch v := volumes[d.Name]; {
		case v == nil:
			errs = append(errs, field.NotFound(name, d.Name))
		case v.PersistentVolumeClaim == nil && v.Ephemeral == nil:
			errs = append(errs, field.Invalid(name, d.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		errs = append(errs, validateDevicePath(d.DevicePath, paths, where)...)
		if mounts.Has(d.Name) {
			errs = append(errs, field.Invalid(name, d.Name, "must not already exist in volumeMounts"))
		}
		if mountPaths.Has(d.DevicePath) {
			errs = append(errs, field.Invalid(where, d.DevicePath, "must not already exist as a path in volumeMounts"))
		}
		if d.Name != "" {
			names.Insert(d.Name)
		}
	}
	return errs
}

func validateDevicePath(v string, taken sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if v == "" {
		errs = append(errs, field.Required(p, ""))
	}
	if taken.Has(v) {
		errs = append(errs, field.Invalid(p, v, "must be unique"))
	}
	if len(noBackstep(v, p)) > 0 {
		return append(errs, field.Invalid(p, v, "can not contain backsteps ('..')"))
	}
	taken.Insert(v)
	return errs
}

// localPath: relative, and never up.
func localPath(v string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if path.IsAbs(v) {
		errs = append(errs, field.Invalid(p, v, "must be a relative path"))
	}
	return append(errs, noBackstep(v, p)...)
}

func noBackstep(v string, p *field.Path) field.ErrorList {
	if slices.Contains(strings.Split(v, "/"), "..") {
		return field.ErrorList{field.Invalid(p, v, "must not contain '..'")}
	}
	return nil
}
