package probe

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/plan"
)

// Answers are written as a string: y for success, n for failure; results as a string of U, S, F after each.
func TestThresholds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name             string
		kind             Kind
		success, failure int32
		answers, results string
		held             bool
	}{
		{"ready at once", Readiness, 1, 3, "y", "S", false},
		{"ready after three", Readiness, 3, 1, "yyy", "UUS", false},
		{"interrupted", Readiness, 3, 1, "yynyyy", "UUFFFS", false},
		{"unready after three", Readiness, 1, 3, "ynnn", "SSSF", false},
		{"not ready from the start", Readiness, 1, 3, "nnn", "UUF", false},
		{"alive until it fails", Liveness, 1, 3, "nnynnn", "SSSSSF", true},
		{"started", Startup, 1, 3, "nny", "UUS", true},
		{"never started", Startup, 1, 3, "nnn", "UUF", true},
	} {
		c, spec := begin(test.kind), &v1.Probe{SuccessThreshold: test.success, FailureThreshold: test.failure}
		got := ""
		for _, answer := range test.answers {
			result := plan.Success
			if answer == 'n' {
				result = plan.Failure
			}
			c = c.add(test.kind, spec, result)
			got += map[plan.ProbeResult]string{plan.Unknown: "U", plan.Success: "S", plan.Failure: "F"}[c.result]
		}
		if got != test.results || c.held != test.held {
			t.Errorf("%s: %s, held %v; want %s, %v", test.name, got, c.held, test.results, test.held)
		}
	}
}
