package kubelet

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/downward"
	"github.com/kogge-dev/kogge/kubelet/environment"
	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

func (k *Kubelet) sandboxConfig(pod *v1.Pod, attempt uint32) (*runtimeapi.PodSandboxConfig, error) {
	dns, err := k.podDNS(pod)
	if err != nil {
		return nil, err
	}
	hostname, err := k.kernelHostname(pod)
	if err != nil {
		return nil, err
	}
	config := runtime.SandboxConfig(pod, runtime.SandboxSettings{Attempt: attempt, Hostname: hostname, DNS: dns, LogRoot: k.options.LogRoot, CgroupParent: k.cgroupParent(pod)})
	if config.LogDirectory != "" {
		if err := os.MkdirAll(config.LogDirectory, 0o755); err != nil {
			return nil, err
		}
	}
	return config, nil
}

// containerConfig gathers what the container needs. Its errors are about the specification.
func (k *Kubelet) containerConfig(ctx context.Context, a attempt, imageRef string) (*runtimeapi.ContainerConfig, error) {
	sources, err := k.sources(a)
	if err != nil {
		return nil, err
	}
	variables, err := environment.Build(ctx, a.pod, a.container, sources)
	if err != nil {
		return nil, err
	}
	mounts, err := k.mounts(a, variables)
	if err != nil {
		return nil, err
	}
	user, err := k.imageUser(ctx, imageRef)
	if err != nil {
		return nil, err
	}
	restarts, err := k.restartCount(a)
	if err != nil {
		return nil, err
	}
	target, err := a.target()
	if err != nil {
		return nil, err
	}
	command, args := environment.Command(a.container, variables)
	settings := runtime.ContainerSettings{
		RestartCount: restarts, ImageRef: imageRef, ImageUser: user, Command: command, Args: args, TargetID: target,
		MemoryCapacity: k.memoryCapacity(), Mounts: mounts, SeccompRoot: filepath.Join(k.options.RootDir, "seccomp"),
	}
	for _, variable := range variables {
		settings.Env = append(settings.Env, &runtimeapi.KeyValue{Key: variable.Name, Value: []byte(variable.Value)})
	}
	return runtime.ContainerConfig(a.pod, a.container, settings)
}

// target is the container that an ephemeral container looks at.
func (a attempt) target() (string, error) {
	if a.kind != podspec.Ephemeral {
		return "", nil
	}
	for i := range a.pod.Spec.EphemeralContainers {
		c := &a.pod.Spec.EphemeralContainers[i]
		if c.Name != a.container.Name || c.TargetContainerName == "" {
			continue
		}
		target := a.observed.Newest(c.TargetContainerName)
		if target == nil {
			return "", errors.New("unable to find target container " + c.TargetContainerName)
		}
		return target.ID, nil
	}
	return "", nil
}

// restartCount continues from the last attempt, or, if the runtime has forgotten it, from the logs that are left.
func (k *Kubelet) restartCount(a attempt) (int, error) {
	if last := a.observed.Newest(a.container.Name); last != nil {
		return last.RestartCount + 1, nil
	}
	if k.options.LogRoot == "" {
		return 0, nil
	}
	return runtime.RestartCountFromLogs(runtime.ContainerLogDirectory(k.options.LogRoot, a.pod, a.container.Name))
}

func (k *Kubelet) imageUser(ctx context.Context, ref string) (runtime.ImageUser, error) {
	response, err := k.options.Images.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: ref}})
	if err != nil {
		return runtime.ImageUser{}, err
	}
	root := int64(0)
	switch image := response.GetImage(); {
	case image.GetUid() != nil:
		return runtime.ImageUser{UID: &image.Uid.Value}, nil
	case image.GetUsername() != "":
		return runtime.ImageUser{Name: image.Username}, nil
	default:
		return runtime.ImageUser{UID: &root}, nil
	}
}

// sources is where the container's variables come from.
func (k *Kubelet) sources(a attempt) (environment.Sources, error) {
	sources := environment.Sources{ConfigMap: k.configMap, Secret: k.secret, Facts: k.downward(a.pod, a.observed)}
	if k.machine == nil {
		return sources, nil
	}
	all, err := k.machine.services.all()
	if err != nil {
		return sources, err
	}
	links := a.pod.Spec.EnableServiceLinks == nil || *a.pod.Spec.EnableServiceLinks
	sources.Services = environment.Services(all, a.pod.Namespace, links)
	sources.VolumePath = func(name string) (string, bool) {
		volume, found := a.mounted[name]
		return volume.Path, found && volume.Path != ""
	}
	return sources, nil
}

// downward is what the pod may ask about itself.
func (k *Kubelet) downward(pod *v1.Pod, observed *runtime.Pod) downward.Facts {
	facts := downward.Facts{HostIPs: []string{k.options.NodeIP.String()}, PodIPs: observed.IPs()}
	if pod.Spec.HostNetwork {
		facts.PodIPs = facts.HostIPs
	}
	if node := k.node.Node(); node != nil {
		facts.Allocatable = node.Status.Allocatable
	}
	return facts
}

func (k *Kubelet) configMap(ctx context.Context, namespace, name string) (*v1.ConfigMap, error) {
	return k.objects.ConfigMap(ctx, namespace, name)
}

func (k *Kubelet) secret(ctx context.Context, namespace, name string) (*v1.Secret, error) {
	return k.objects.Secret(ctx, namespace, name)
}

func (k *Kubelet) cgroupParent(pod *v1.Pod) string {
	if k.machine == nil || k.machine.groups == nil {
		return ""
	}
	return k.machine.groups.Parent(pod)
}

// pullSecrets returns a function that fetches the pod's pull secrets. One that is missing is told, and left out: the
// image may be had without it.
func (k *Kubelet) pullSecrets(pod *v1.Pod) func(context.Context) []*v1.Secret {
	if len(pod.Spec.ImagePullSecrets) == 0 {
		return nil
	}
	return func(ctx context.Context) []*v1.Secret {
		var secrets []*v1.Secret
		for _, reference := range pod.Spec.ImagePullSecrets {
			secret, err := k.secret(ctx, pod.Namespace, reference.Name)
			if err != nil {
				k.recordPod(pod, v1.EventTypeWarning, "FailedToRetrieveImagePullSecret",
					"Unable to retrieve some image pull secrets ("+reference.Name+"); attempting to pull the image may not succeed.")
				continue
			}
			secrets = append(secrets, secret)
		}
		return secrets
	}
}

func (k *Kubelet) memoryCapacity() int64 {
	if node := k.node.Node(); node != nil {
		return node.Status.Capacity.Memory().Value()
	}
	return 0
}
