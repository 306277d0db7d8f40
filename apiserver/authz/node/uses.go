package node

import (
	corev1 "k8s.io/api/core/v1"
)

// uses says whether a pod needs an object of its namespace, or a volume.
func (a Authorizer) uses(p *corev1.Pod, resource, name string) bool {
	switch resource {
	case "serviceaccounts":
		return p.Spec.ServiceAccountName == name
	case "secrets":
		return usesSecret(p, name)
	case "configmaps":
		return usesConfigMap(p, name)
	case "persistentvolumeclaims":
		return usesClaim(p, func(claim string) bool { return claim == name })
	case "persistentvolumes":
		return usesClaim(p, func(claim string) bool { return a.Claim(p.Namespace, claim) == name })
	}
	return false
}

func usesClaim(p *corev1.Pod, is func(claim string) bool) bool {
	for _, v := range p.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil && is(v.PersistentVolumeClaim.ClaimName), v.Ephemeral != nil && is(p.Name+"-"+v.Name):
			return true
		}
	}
	return false
}

func usesSecret(p *corev1.Pod, name string) bool {
	for _, s := range p.Spec.ImagePullSecrets {
		if s.Name == name {
			return true
		}
	}
	for _, e := range sources(&p.Spec) {
		if e.secret == name {
			return true
		}
	}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i].VolumeSource
		if v.Secret != nil && v.Secret.SecretName == name || v.AzureFile != nil && v.AzureFile.SecretName == name {
			return true
		}
		for _, s := range projected(v) {
			if s.Secret != nil && s.Secret.Name == name {
				return true
			}
		}
		for _, r := range credentials(v) {
			if r != nil && r.Name == name {
				return true
			}
		}
	}
	return false
}

func usesConfigMap(p *corev1.Pod, name string) bool {
	for _, e := range sources(&p.Spec) {
		if e.configMap == name {
			return true
		}
	}
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i].VolumeSource
		if v.ConfigMap != nil && v.ConfigMap.Name == name {
			return true
		}
		for _, s := range projected(v) {
			if s.ConfigMap != nil && s.ConfigMap.Name == name {
				return true
			}
		}
	}
	return false
}

func projected(v *corev1.VolumeSource) []corev1.VolumeProjection {
	if v.Projected == nil {
		return nil
	}
	return v.Projected.Sources
}

// credentials are the Secrets that drivers of volumes need.
func credentials(v *corev1.VolumeSource) []*corev1.LocalObjectReference {
	var out []*corev1.LocalObjectReference
	if v.CSI != nil {
		out = append(out, v.CSI.NodePublishSecretRef)
	}
	if v.FlexVolume != nil {
		out = append(out, v.FlexVolume.SecretRef)
	}
	if v.ISCSI != nil {
		out = append(out, v.ISCSI.SecretRef)
	}
	if v.CephFS != nil {
		out = append(out, v.CephFS.SecretRef)
	}
	if v.RBD != nil {
		out = append(out, v.RBD.SecretRef)
	}
	if v.ScaleIO != nil {
		out = append(out, v.ScaleIO.SecretRef)
	}
	if v.StorageOS != nil {
		out = append(out, v.StorageOS.SecretRef)
	}
	return out
}

// source is a Secret or a ConfigMap that environment variables come from.
type source struct{ secret, configMap string }

func sources(s *corev1.PodSpec) []source {
	var out []source
	add := func(env []corev1.EnvVar, from []corev1.EnvFromSource) {
		for _, e := range env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				out = append(out, source{secret: e.ValueFrom.SecretKeyRef.Name})
			}
			if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				out = append(out, source{configMap: e.ValueFrom.ConfigMapKeyRef.Name})
			}
		}
		for _, f := range from {
			if f.SecretRef != nil {
				out = append(out, source{secret: f.SecretRef.Name})
			}
			if f.ConfigMapRef != nil {
				out = append(out, source{configMap: f.ConfigMapRef.Name})
			}
		}
	}
	for _, c := range s.InitContainers {
		add(c.Env, c.EnvFrom)
	}
	for _, c := range s.Containers {
		add(c.Env, c.EnvFrom)
	}
	for _, c := range s.EphemeralContainers {
		add(c.Env, c.EnvFrom)
	}
	return out
}
