// Package status says how a pod is doing.
//
// Generate is a pure function from the pod, what the runtime shows of it, probe results and the reasons why
// containers could not be started, to the status that the API shall have: phase, conditions, container statuses,
// addresses, quality of service, observed generation. Times only move when what they tell of changes, so that an
// unchanged pod gives an unchanged status. Patch turns two statuses into a strategic merge patch for pods/status;
// a Writer sends it. The kubelet is the only writer of the conditions it owns, and leaves all others alone.
//
//	s := status.Generate(status.Input{Pod: pod, Old: old, Observed: observed, …})
//	written, err := writer.Write(ctx, pod, old, s)
//
// The rules are upstream's (pkg/kubelet/kubelet_pods.go, pkg/kubelet/status).
//
// Next: controllers/endpointslice
package status
