// Package podautoscaler sets the number of pods of workloads by what HorizontalPodAutoscalers
// measure: CPU and memory through metrics.k8s.io, anything else through custom.metrics.k8s.io
// and external.metrics.k8s.io, where somebody serves them.
//
// A pass reads the scale of the target and all metrics, then decides; every 15 seconds, since
// what is measured changes without an event.
//
// Promises: of several metrics the one that wants most pods wins; a metric that can't be read
// never scales down; a pod that isn't measured counts as whatever keeps the number from
// changing. What was recommended and done in the last minutes is kept in memory only: after a
// restart, scaling down waits its full time again.
//
//	plan := podautoscaler.Decide(podautoscaler.Observed{Autoscaler: hpa, Current: 3, …})
//
// plan.go decides, proposal.go turns a metric into a number, calculate.go does the sums,
// behavior.go holds the number back, metrics.go reads.
//
// Next: controllers/deployment.
package podautoscaler
