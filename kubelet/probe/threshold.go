package probe

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/plan"
)

// Kind is what a probe asks for.
type Kind string

// The kinds of probes; their texts begin the events.
const (
	Liveness  Kind = "Liveness"
	Readiness Kind = "Readiness"
	Startup   Kind = "Startup"
)

// count is the answers in a row, and what they amount to.
type count struct {
	last plan.ProbeResult
	run  int32
	// result is what counts: it changes only at a threshold.
	result plan.ProbeResult
	// held: nothing more is asked of this container.
	held bool
}

// begin is the count before the first answer: a container is alive until it fails, not ready until it succeeds.
func begin(kind Kind) count {
	switch kind {
	case Liveness:
		return count{result: plan.Success}
	default:
		return count{result: plan.Unknown}
	}
}

// add counts one answer. With failureThreshold 3, three failures in a row make a failure.
func (c count) add(kind Kind, spec *v1.Probe, answer plan.ProbeResult) count {
	if c.last == answer {
		c.run++
	} else {
		c.last, c.run = answer, 1
	}
	if answer == plan.Failure && c.run < spec.FailureThreshold || answer == plan.Success && c.run < spec.SuccessThreshold {
		return c
	}
	c.result = answer
	if kind == Startup || kind == Liveness && answer == plan.Failure {
		c.held = true
	}
	return c
}
