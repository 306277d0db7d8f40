package runtime

import (
	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ContainerSettings is what a container's configuration needs beside the pod.
type ContainerSettings struct {
	RestartCount int
	// ImageRef is the image as the runtime knows it (its id).
	ImageRef  string
	ImageUser ImageUser
	// Env is complete and expanded. Command and Args are expanded.
	Env     []*runtimeapi.KeyValue
	Command []string
	Args    []string
	Mounts  []*runtimeapi.Mount
	// MemoryCapacity of the node, bytes.
	MemoryCapacity int64
	// TargetID is the container whose processes an ephemeral container joins; "" for none.
	TargetID string
	// SeccompRoot is the folder that Localhost profiles are named relative to.
	SeccompRoot string
}

// ContainerConfig is the runtime's view of one attempt to run a container. An error says that the container can't
// run as specified (CreateContainerConfigError).
func ContainerConfig(pod *v1.Pod, container *v1.Container, settings ContainerSettings) (*runtimeapi.ContainerConfig, error) {
	security, err := containerSecurity(pod, container, settings.ImageUser, settings.SeccompRoot)
	if err != nil {
		return nil, err
	}
	if settings.TargetID != "" && security.NamespaceOptions.Pid == runtimeapi.NamespaceMode_CONTAINER {
		security.NamespaceOptions.Pid = runtimeapi.NamespaceMode_TARGET
		security.NamespaceOptions.TargetId = settings.TargetID
	}
	annotations, err := containerAnnotations(pod, container, settings.RestartCount)
	if err != nil {
		return nil, err
	}
	config := &runtimeapi.ContainerConfig{
		Metadata:    &runtimeapi.ContainerMetadata{Name: container.Name, Attempt: uint32(settings.RestartCount)},
		Image:       &runtimeapi.ImageSpec{Image: settings.ImageRef, UserSpecifiedImage: container.Image},
		Command:     settings.Command,
		Args:        settings.Args,
		WorkingDir:  container.WorkingDir,
		Envs:        settings.Env,
		Mounts:      settings.Mounts,
		Labels:      containerLabels(pod, container),
		Annotations: annotations,
		LogPath:     containerLogPath(container.Name, settings.RestartCount),
		Stdin:       container.Stdin,
		StdinOnce:   container.StdinOnce,
		Tty:         container.TTY,
		Linux: &runtimeapi.LinuxContainerConfig{
			Resources:       ContainerResources(pod, container, settings.MemoryCapacity),
			SecurityContext: security,
		},
	}
	if container.Lifecycle != nil && container.Lifecycle.StopSignal != nil {
		config.StopSignal = runtimeapi.Signal(runtimeapi.Signal_value[string(*container.Lifecycle.StopSignal)])
	}
	return config, nil
}
