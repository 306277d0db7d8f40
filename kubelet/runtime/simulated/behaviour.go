package simulated

import (
	"io"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// Annotations of a pod that tell what its containers do. With a dot and a container's name behind it an annotation is
// about that container alone. Durations are as in "1.5s".
const (
	// AnnotationStartDelay is how long a container takes to start.
	AnnotationStartDelay = "simulated.kogge.dev/start-delay"
	// AnnotationImagePull is "fail", or how long a pull takes. An image that the node has isn't pulled, as anywhere,
	// unless the policy is Always. It is about the whole pod.
	AnnotationImagePull = "simulated.kogge.dev/image-pull"
	// AnnotationReadyAfter is how long readiness and startup probes fail after the start. A container without such
	// probes is ready when it runs.
	AnnotationReadyAfter = "simulated.kogge.dev/ready-after"
	// AnnotationExitAfter is the time after which containers end by themselves.
	AnnotationExitAfter = "simulated.kogge.dev/exit-after"
	// AnnotationExitCode is the code that they end with then; 0 by default.
	AnnotationExitCode = "simulated.kogge.dev/exit-code"
	// AnnotationCrashLoop is how long each attempt runs before it fails with code 1, or "true": one second.
	AnnotationCrashLoop = "simulated.kogge.dev/crash-loop"
	// AnnotationOOMAfter is when a container is killed because it used too much memory: code 137, OOMKilled.
	AnnotationOOMAfter = "simulated.kogge.dev/oom-after"
	// AnnotationUsageCPU and AnnotationUsageMemory are quantities: what a container uses, by /stats/summary and
	// /metrics/resource. 0 by default.
	AnnotationUsageCPU    = "simulated.kogge.dev/usage-cpu"
	AnnotationUsageMemory = "simulated.kogge.dev/usage-memory"
	// AnnotationMessage is the termination message.
	AnnotationMessage = "simulated.kogge.dev/message"
	// AnnotationLog is what they have written.
	AnnotationLog = "simulated.kogge.dev/log"
	// AnnotationExecOutput and AnnotationExecCode are the answer to every command that is run in a container; without
	// them a few commands are understood, and all others succeed and say nothing.
	AnnotationExecOutput = "simulated.kogge.dev/exec-output"
	AnnotationExecCode   = "simulated.kogge.dev/exec-code"
)

const (
	crashTime = time.Second
	crashCode = 1
	// exitOutOfMemory is that of a process which the kernel killed.
	exitOutOfMemory   = exitKilled
	reasonOutOfMemory = "OOMKilled"
)

// Behaviour is what a container does.
type Behaviour struct {
	// StartDelay is how long the start takes.
	StartDelay time.Duration
	// ReadyAfter the start, readiness and startup probes succeed.
	ReadyAfter time.Duration
	// ExitAfter the start the container ends with ExitCode; nil: it runs until it is stopped.
	ExitAfter *time.Duration
	ExitCode  int32
	// Reason why it ended; by default what the code says.
	Reason string
	// StopCode is the exit code of a container that is stopped; nil: as by the signal.
	StopCode *int32
	// Message is its termination message.
	Message string
	// Log is what it has written since it started.
	Log string
	// CPU in billionths of a processor and Memory in bytes are what it uses while it runs.
	CPU, Memory uint64
	// Exec runs a command in the container and returns its exit code; nil: every command succeeds and says nothing.
	Exec func(Command) int32
}

// Command is a command that somebody runs in a container.
type Command struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

func (b Behaviour) run(command Command) int32 {
	if b.Exec == nil {
		return 0
	}
	return b.Exec(command)
}

// decide reads what annotations say about a container. Init containers end at once, unless these say otherwise: else
// no pod would start. A value that can't be read is as good as none: a runtime has nobody to complain to.
func decide(annotations map[string]string, container *runtimeapi.ContainerConfig) Behaviour {
	a := about{annotations, container.GetMetadata().GetName()}
	b := Behaviour{Message: a.text(AnnotationMessage), Log: a.text(AnnotationLog)}
	if container.GetAnnotations()[runtime.AnnotationMustEnd] != "" {
		b.ExitAfter = new(time.Duration)
	}
	b.ExitCode, _ = readCode(a.text(AnnotationExitCode))
	if after, ok := a.duration(AnnotationExitAfter); ok {
		b.ExitAfter = &after
	}
	if a.text(AnnotationCrashLoop) == "true" {
		b.ExitAfter, b.ExitCode = new(crashTime), crashCode
	} else if after, ok := a.duration(AnnotationCrashLoop); ok {
		b.ExitAfter, b.ExitCode = &after, crashCode
	}
	if after, ok := a.duration(AnnotationOOMAfter); ok {
		b.ExitAfter, b.ExitCode, b.Reason = &after, exitOutOfMemory, reasonOutOfMemory
	}
	b.StartDelay, _ = a.duration(AnnotationStartDelay)
	b.ReadyAfter, _ = a.duration(AnnotationReadyAfter)
	if cpu, ok := a.quantity(AnnotationUsageCPU); ok {
		b.CPU = uint64(max(cpu.ScaledValue(resource.Nano), 0))
	}
	if memory, ok := a.quantity(AnnotationUsageMemory); ok {
		b.Memory = uint64(max(memory.Value(), 0))
	}
	return b
}

// about finds what annotations say about one container.
type about struct {
	annotations map[string]string
	container   string
}

func (a about) text(key string) string {
	if own, set := a.annotations[key+"."+a.container]; set {
		return own
	}
	return a.annotations[key]
}

func (a about) duration(key string) (time.Duration, bool) {
	return readDuration(a.text(key))
}

func (a about) quantity(key string) (resource.Quantity, bool) {
	q, err := resource.ParseQuantity(a.text(key))
	return q, err == nil
}

func readDuration(value string) (time.Duration, bool) {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return 0, false
	}
	return d, true
}

// readCode reads an exit code that a process can end with: 0 to 255.
func readCode(value string) (int32, bool) {
	code, err := strconv.ParseUint(value, 10, 8)
	if err != nil {
		return 0, false
	}
	return int32(code), true
}
