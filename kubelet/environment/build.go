package environment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/kubelet/downward"
)

// Sources is where values come from.
type Sources struct {
	// ConfigMap and Secret fetch an object of the pod's namespace. Their errors are the API's.
	ConfigMap func(ctx context.Context, namespace, name string) (*v1.ConfigMap, error)
	Secret    func(ctx context.Context, namespace, name string) (*v1.Secret, error)
	// Services that the pod may see; see Services.
	Services []*v1.Service
	Facts    downward.Facts
	// VolumePath returns the folder of a volume of the pod, for variables that stand in a file of it; nil when the
	// pod's volumes are nowhere.
	VolumePath func(volume string) (string, bool)
}

// builder collects variables: a later one replaces an earlier one of the same name, in its place.
type builder struct {
	ctx       context.Context
	pod       *v1.Pod
	container *v1.Container
	sources   Sources
	values    map[string]string
	order     []string
	services  map[string]string
}

// Build returns the container's variables: those of whole ConfigMaps and Secrets, then its own, then those that tell
// of Services.
func Build(ctx context.Context, pod *v1.Pod, container *v1.Container, sources Sources) ([]Variable, error) {
	links := serviceVariables(sources.Services)
	b := &builder{ctx: ctx, pod: pod, container: container, sources: sources, values: map[string]string{}, services: map[string]string{}}
	for _, variable := range links {
		b.services[variable.Name] = variable.Value
	}
	for i := range container.EnvFrom {
		if err := b.addAll(&container.EnvFrom[i]); err != nil {
			return nil, err
		}
	}
	for i := range container.Env {
		if err := b.add(&container.Env[i]); err != nil {
			return nil, err
		}
	}
	variables := make([]Variable, 0, len(b.order)+len(links))
	for _, name := range b.order {
		variables = append(variables, Variable{name, b.values[name]})
	}
	for _, variable := range links {
		if _, taken := b.values[variable.Name]; !taken {
			variables = append(variables, variable)
		}
	}
	return variables, nil
}

func (b *builder) set(name, value string) {
	if _, known := b.values[name]; !known {
		b.order = append(b.order, name)
	}
	b.values[name] = value
}

func (b *builder) lookup(name string) (string, bool) {
	if value, known := b.values[name]; known {
		return value, true
	}
	value, known := b.services[name]
	return value, known
}

func (b *builder) addAll(from *v1.EnvFromSource) error {
	values := map[string]string{}
	switch {
	case from.ConfigMapRef != nil:
		configMap, err := b.sources.ConfigMap(b.ctx, b.pod.Namespace, from.ConfigMapRef.Name)
		if err != nil {
			return unlessOptional(err, from.ConfigMapRef.Optional)
		}
		values = configMap.Data
	case from.SecretRef != nil:
		secret, err := b.sources.Secret(b.ctx, b.pod.Namespace, from.SecretRef.Name)
		if err != nil {
			return unlessOptional(err, from.SecretRef.Optional)
		}
		for key, value := range secret.Data {
			values[key] = string(value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		b.set(from.Prefix+key, values[key])
	}
	return nil
}

func (b *builder) add(variable *v1.EnvVar) error {
	value, present := Expand(variable.Value, b.lookup), true
	if variable.Value == "" && variable.ValueFrom != nil {
		var err error
		if value, present, err = b.resolve(variable.ValueFrom); err != nil {
			return err
		}
	}
	if present {
		b.set(variable.Name, value)
	}
	return nil
}

// resolve returns the value of a source; not present means that it is optional and missing.
func (b *builder) resolve(source *v1.EnvVarSource) (value string, present bool, err error) {
	switch {
	case source.FieldRef != nil:
		value, err = downward.Field(b.pod, source.FieldRef.FieldPath, b.sources.Facts)
		return value, true, err
	case source.ResourceFieldRef != nil:
		value, err = downward.Resource(b.pod, source.ResourceFieldRef, b.container.Name, b.sources.Facts)
		return value, true, err
	case source.ConfigMapKeyRef != nil:
		return b.fromConfigMap(source.ConfigMapKeyRef)
	case source.SecretKeyRef != nil:
		return b.fromSecret(source.SecretKeyRef)
	case source.FileKeyRef != nil:
		return b.fromFile(source.FileKeyRef)
	default:
		return "", true, nil
	}
}

func (b *builder) fromConfigMap(ref *v1.ConfigMapKeySelector) (string, bool, error) {
	configMap, err := b.sources.ConfigMap(b.ctx, b.pod.Namespace, ref.Name)
	if err != nil {
		return "", false, unlessOptional(err, ref.Optional)
	}
	value, found := configMap.Data[ref.Key]
	if !found && !isTrue(ref.Optional) {
		return "", false, fmt.Errorf("couldn't find key %v in ConfigMap %v/%v", ref.Key, b.pod.Namespace, ref.Name)
	}
	return value, found, nil
}

func (b *builder) fromSecret(ref *v1.SecretKeySelector) (string, bool, error) {
	secret, err := b.sources.Secret(b.ctx, b.pod.Namespace, ref.Name)
	if err != nil {
		return "", false, unlessOptional(err, ref.Optional)
	}
	value, found := secret.Data[ref.Key]
	if !found && !isTrue(ref.Optional) {
		return "", false, fmt.Errorf("couldn't find key %v in Secret %v/%v", ref.Key, b.pod.Namespace, ref.Name)
	}
	return string(value), found, nil
}

func unlessOptional(err error, optional *bool) error {
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return nil
	}
	return err
}

func isTrue(value *bool) bool { return value != nil && *value }
