// Package nodettl tells kubelets, by an annotation on their Node, for how many seconds they
// may keep ConfigMaps and Secrets without asking again: the longer, the more nodes there are.
//
// Promises: the steps overlap, so that a cluster at the edge of one doesn't waver.
//
//	seconds := nodettl.Seconds(nodes, before)
//
// Next: controllers/nodelifecycle.
package nodettl
