package object

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// Kind is what a Store holds.
type Kind string

// The kinds, named as errors name them.
const (
	ConfigMap Kind = "configmap"
	Secret    Kind = "secret"
)

// Reference names an object.
type Reference struct {
	Kind      Kind
	Namespace string
	Name      string
}

// References lists the objects that a pod uses, each once.
func References(pod *v1.Pod) []Reference {
	c := collector{namespace: pod.Namespace, seen: map[Reference]bool{}}
	for _, secret := range pod.Spec.ImagePullSecrets {
		c.add(Secret, secret.Name)
	}
	for container := range podspec.All(pod) {
		c.addEnvironment(container)
	}
	for i := range pod.Spec.Volumes {
		c.addVolume(&pod.Spec.Volumes[i])
	}
	return c.list
}

type collector struct {
	namespace string
	seen      map[Reference]bool
	list      []Reference
}

func (c *collector) add(kind Kind, name string) {
	reference := Reference{kind, c.namespace, name}
	if name != "" && !c.seen[reference] {
		c.seen[reference] = true
		c.list = append(c.list, reference)
	}
}

func (c *collector) addEnvironment(container *v1.Container) {
	for _, from := range container.EnvFrom {
		if from.ConfigMapRef != nil {
			c.add(ConfigMap, from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			c.add(Secret, from.SecretRef.Name)
		}
	}
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			continue
		}
		if ref := variable.ValueFrom.ConfigMapKeyRef; ref != nil {
			c.add(ConfigMap, ref.Name)
		}
		if ref := variable.ValueFrom.SecretKeyRef; ref != nil {
			c.add(Secret, ref.Name)
		}
	}
}

func (c *collector) addVolume(volume *v1.Volume) {
	switch {
	case volume.ConfigMap != nil:
		c.add(ConfigMap, volume.ConfigMap.Name)
	case volume.Secret != nil:
		c.add(Secret, volume.Secret.SecretName)
	case volume.Projected != nil:
		for _, source := range volume.Projected.Sources {
			if source.ConfigMap != nil {
				c.add(ConfigMap, source.ConfigMap.Name)
			}
			if source.Secret != nil {
				c.add(Secret, source.Secret.Name)
			}
		}
	}
}
