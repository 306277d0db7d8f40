package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/kubelet/downward"
	"github.com/kogge-dev/kogge/kubelet/volume/atomicfile"
)

// defaultMode of files whose volume names none; the API always sets it.
const defaultMode = 0o644

// files collects what a volume shall hold; nil for one that isn't made of files. All of a projection's problems are
// told at once.
func (v *Volumes) files(ctx context.Context, pod *v1.Pod, volume *v1.Volume, facts downward.Facts) (map[string]atomicfile.File, error) {
	p := payload{v: v, ctx: ctx, pod: pod, facts: facts, files: map[string]atomicfile.File{}}
	switch {
	case volume.ConfigMap != nil:
		s := volume.ConfigMap
		p.mode = mode(s.DefaultMode, defaultMode)
		p.configMap(s.Name, s.Items, s.Optional)
	case volume.Secret != nil:
		s := volume.Secret
		p.mode = mode(s.DefaultMode, defaultMode)
		p.secret(s.SecretName, s.Items, s.Optional)
	case volume.DownwardAPI != nil:
		p.mode = mode(volume.DownwardAPI.DefaultMode, defaultMode)
		p.downward(volume.DownwardAPI.Items)
	case volume.Projected != nil:
		p.mode = mode(volume.Projected.DefaultMode, defaultMode)
		for i := range volume.Projected.Sources {
			p.project(&volume.Projected.Sources[i])
		}
	default:
		return nil, nil
	}
	return p.files, errors.Join(p.failures...)
}

type payload struct {
	v        *Volumes
	ctx      context.Context
	pod      *v1.Pod
	facts    downward.Facts
	mode     fs.FileMode
	files    map[string]atomicfile.File
	failures []error
}

func mode(specified *int32, fallback fs.FileMode) fs.FileMode {
	if specified != nil {
		return fs.FileMode(*specified)
	}
	return fallback
}

func (p *payload) fail(err error) { p.failures = append(p.failures, err) }

func (p *payload) project(source *v1.VolumeProjection) {
	switch {
	case source.ConfigMap != nil:
		p.configMap(source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
	case source.Secret != nil:
		p.secret(source.Secret.Name, source.Secret.Items, source.Secret.Optional)
	case source.DownwardAPI != nil:
		p.downward(source.DownwardAPI.Items)
	case source.ServiceAccountToken != nil:
		p.token(source.ServiceAccountToken)
	default:
		p.fail(errors.New("projected source is not supported by this node"))
	}
}

func (p *payload) configMap(name string, items []v1.KeyToPath, optional *bool) {
	configMap, err := p.v.options.Objects.ConfigMap(p.ctx, p.pod.Namespace, name)
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return
	}
	if err != nil {
		p.fail(err)
		return
	}
	data := make(map[string][]byte, len(configMap.Data)+len(configMap.BinaryData))
	for key, value := range configMap.Data {
		data[key] = []byte(value)
	}
	for key, value := range configMap.BinaryData {
		data[key] = value
	}
	p.keys(data, items, isTrue(optional), "configmap references non-existent config key: %s")
}

func (p *payload) secret(name string, items []v1.KeyToPath, optional *bool) {
	secret, err := p.v.options.Objects.Secret(p.ctx, p.pod.Namespace, name)
	if apierrors.IsNotFound(err) && isTrue(optional) {
		return
	}
	if err != nil {
		p.fail(err)
		return
	}
	p.keys(secret.Data, items, isTrue(optional), "references non-existent secret key: %s")
}

// keys makes files of all keys, or of those that items name.
func (p *payload) keys(data map[string][]byte, items []v1.KeyToPath, optional bool, missing string) {
	if len(items) == 0 {
		for key, value := range data {
			p.files[key] = atomicfile.File{Data: value, Mode: p.mode}
		}
		return
	}
	for _, item := range items {
		value, found := data[item.Key]
		if found {
			p.files[path.Clean(item.Path)] = atomicfile.File{Data: value, Mode: mode(item.Mode, p.mode)}
		} else if !optional {
			p.fail(fmt.Errorf(missing, item.Key))
		}
	}
}

func (p *payload) downward(items []v1.DownwardAPIVolumeFile) {
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = downward.Field(p.pod, item.FieldRef.FieldPath, p.facts)
		case item.ResourceFieldRef != nil:
			value, err = downward.Resource(p.pod, item.ResourceFieldRef, item.ResourceFieldRef.ContainerName, p.facts)
		}
		if err != nil {
			p.fail(err)
			continue
		}
		p.files[path.Clean(item.Path)] = atomicfile.File{Data: []byte(value), Mode: mode(item.Mode, p.mode)}
	}
}

func (p *payload) token(source *v1.ServiceAccountTokenProjection) {
	token, err := p.v.options.Tokens.Token(p.ctx, p.pod, source)
	if err != nil {
		p.fail(err)
		return
	}
	file := atomicfile.File{Data: []byte(token), Mode: p.mode}
	// A token is readable to the one user that all containers run as, or to the pod's group, and to nobody else.
	if file.User = onlyUser(p.pod); file.User != nil || fsGroup(p.pod) != nil {
		file.Mode = 0o600
	}
	p.files[path.Clean(source.Path)] = file
}

// onlyUser is the user that all containers of the pod run as, if it is one and specified.
func onlyUser(pod *v1.Pod) *int64 {
	var user *int64
	var fallback *int64
	if pod.Spec.SecurityContext != nil {
		fallback = pod.Spec.SecurityContext.RunAsUser
	}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			own := fallback
			if sc := list[i].SecurityContext; sc != nil && sc.RunAsUser != nil {
				own = sc.RunAsUser
			}
			if own == nil || user != nil && *user != *own {
				return nil
			}
			user = own
		}
	}
	return user
}

func fsGroup(pod *v1.Pod) *int64 {
	if pod.Spec.SecurityContext == nil {
		return nil
	}
	return pod.Spec.SecurityContext.FSGroup
}

func isTrue(value *bool) bool { return value != nil && *value }
