package runtime

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// State is where a container stands in its life.
type State string

// The states of a container. Their texts appear in events, so they are upstream's.
const (
	StateCreated State = "created"
	StateRunning State = "running"
	StateExited  State = "exited"
	StateUnknown State = "unknown"
)

// Pod is what the runtime knows about one pod.
type Pod struct {
	UID       types.UID
	Name      string
	Namespace string
	// Sandboxes are sorted newest first.
	Sandboxes []Sandbox
	// Containers are those of all sandboxes, sorted newest first.
	Containers []Container
}

// Sandbox is the environment (network namespace, pod cgroup) that a pod's containers share.
type Sandbox struct {
	ID          string
	Ready       bool
	Attempt     uint32
	CreatedAt   time.Time
	HostNetwork bool
	// NetworkReported is false when the runtime said nothing about the network.
	NetworkReported bool
	// IPs are the pod's addresses, the primary one first; none for a pod on the host's network.
	IPs []string
}

// Container is one attempt to run a container of a pod.
type Container struct {
	ID        string
	SandboxID string
	Name      string
	State     State
	// Image is the name that the pod asked for, ImageID the digest or id that runs.
	Image   string
	ImageID string
	// Hash is HashContainer of the specification that the container was made from.
	Hash         uint64
	RestartCount int
	CreatedAt    time.Time
	StartedAt    time.Time
	FinishedAt   time.Time
	ExitCode     int32
	Reason       string
	Message      string
	LogPath      string
	// Saved holds what a kubelet needs to stop a container whose pod it no longer knows.
	Saved     Saved
	Resources *runtimeapi.LinuxContainerResources
	User      *runtimeapi.LinuxContainerUser
	Mounts    []*runtimeapi.Mount
}

// Newest returns the latest container with that name, or nil.
func (p *Pod) Newest(name string) *Container {
	for i := range p.Containers {
		if p.Containers[i].Name == name {
			return &p.Containers[i]
		}
	}
	return nil
}

// NewestActive is Newest among the containers of the ready sandbox; nil when there is none.
func (p *Pod) NewestActive(name string) *Container {
	sandbox := p.ReadySandbox()
	if sandbox == nil {
		return nil
	}
	for i := range p.Containers {
		if c := &p.Containers[i]; c.Name == name && c.SandboxID == sandbox.ID {
			return c
		}
	}
	return nil
}

// ReadySandbox returns the newest sandbox if it is ready, or nil.
func (p *Pod) ReadySandbox() *Sandbox {
	if len(p.Sandboxes) > 0 && p.Sandboxes[0].Ready {
		return &p.Sandboxes[0]
	}
	return nil
}

// Running returns the containers that run now, of whatever sandbox.
func (p *Pod) Running() []*Container {
	var running []*Container
	for i := range p.Containers {
		if p.Containers[i].State == StateRunning {
			running = append(running, &p.Containers[i])
		}
	}
	return running
}

// Alive tells whether anything of the pod still runs: a container or a ready sandbox.
func (p *Pod) Alive() bool {
	for i := range p.Sandboxes {
		if p.Sandboxes[i].Ready {
			return true
		}
	}
	for i := range p.Containers {
		if state := p.Containers[i].State; state == StateRunning || state == StateUnknown {
			return true
		}
	}
	return false
}

// IPs are the addresses of the newest sandbox, if it is ready.
func (p *Pod) IPs() []string {
	if sandbox := p.ReadySandbox(); sandbox != nil {
		return sandbox.IPs
	}
	return nil
}
