// Package simulated is a container runtime that runs nothing.
//
// A Runtime implements the two CRI services in memory: sandboxes get addresses, images are pulled at once,
// containers run until they are stopped or until their Behaviour says that they end. A kubelet can't tell it from a
// real runtime, so a simulated node runs the same code as a real one. It costs no goroutine and a few hundred bytes
// a container; thousands fit in one process. It behaves like a real runtime where it matters: it refuses what
// doesn't exist, forgets nothing, sends an event for each change, and stops containers with their sandbox.
//
//	runtime, err := simulated.New(simulated.Options{Clock: clock})
//	kubelet, err := kubelet.New(kubelet.Options{Runtime: runtime, Images: runtime.Images(), …})
//
// What containers do can be told by annotations on the pod (AnnotationExitAfter and the others beside it), by Rules
// for pods that others write, or by a Behaviour of one's own. docs/simulation.md lists them.
package simulated
