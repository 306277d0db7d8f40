// Command compare holds Kogge against a genuine control plane: what kubectl shows of an example is equal,
// either API server starts on the other's data and lists every object unchanged, either's controllers and
// scheduler bring workloads to the same status on the other's API server, and either scheduler places, refuses
// and preempts pods of random clusters alike.
//
//	make compare
//
// Nodes are simulated on both sides: our kubelet serves either control plane.
package main
