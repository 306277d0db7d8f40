package suite

import "github.com/kogge-dev/kogge/kubelet/runtime/simulated"

// Annotations of pods on simulated nodes.
var (
	// EndsAtOnce ends containers at once, and well.
	EndsAtOnce = map[string]string{simulated.AnnotationExitAfter: "0s"}
	// Fails ends them at once with a code.
	Fails = map[string]string{simulated.AnnotationExitAfter: "0s", simulated.AnnotationExitCode: "1"}
)
