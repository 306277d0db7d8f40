package simulated

import (
	"io"
	"strconv"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// Annotations of a pod that tell what its containers do.
const (
	// AnnotationExitAfter is the time, as in "1.5s", after which containers end by themselves.
	AnnotationExitAfter = "simulated.kogge.dev/exit-after"
	// AnnotationExitCode is the code that they end with then; 0 by default.
	AnnotationExitCode = "simulated.kogge.dev/exit-code"
	// AnnotationLog is what they have written.
	AnnotationLog = "simulated.kogge.dev/log"
)

// Behaviour is what a container does.
type Behaviour struct {
	// ExitAfter the start the container ends with ExitCode; nil: it runs until it is stopped.
	ExitAfter *time.Duration
	ExitCode  int32
	// StopCode is the exit code of a container that is stopped; nil: as by the signal.
	StopCode *int32
	// Message is its termination message.
	Message string
	// Log is what it has written since it started.
	Log string
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

// annotated reads the pod's annotations. Init containers end at once, unless these say otherwise: else no pod would start. A value that can't be read is as good as none: a runtime has nobody to
// complain to.
func annotated(sandbox *runtimeapi.PodSandboxConfig, container *runtimeapi.ContainerConfig) Behaviour {
	var b Behaviour
	if container.GetAnnotations()[runtime.AnnotationMustEnd] != "" {
		b.ExitAfter = new(time.Duration)
	}
	if after, err := time.ParseDuration(sandbox.Annotations[AnnotationExitAfter]); err == nil {
		b.ExitAfter = &after
	}
	if code, err := strconv.ParseInt(sandbox.Annotations[AnnotationExitCode], 10, 32); err == nil {
		b.ExitCode = int32(code)
	}
	b.Log = sandbox.Annotations[AnnotationLog]
	return b
}
