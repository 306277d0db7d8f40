// Package nodeipam gives every node its part of the range that pods get their
// addresses from (Node.spec.podCIDR).
//
// Promises: no two nodes get overlapping parts; a part that a node has, it keeps, across
// restarts too, since the nodes themselves say what is taken; the part of a deleted node
// is given out again. Next-free goes round the range, so that a part isn't reused while
// another has never been used.
//
//	prefix, ok := nodeipam.Next(cluster, 24, taken, after)
//
// Next: controllers/nodelifecycle.
package nodeipam
