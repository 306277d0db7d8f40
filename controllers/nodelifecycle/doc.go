// Package nodelifecycle watches over nodes: one whose kubelet no longer renews its lease
// gets the condition Ready=Unknown, its pods are marked as not ready, and taints say so to
// the scheduler (NoSchedule) and to those who evict (NoExecute).
//
//	lease renewed ──► healthy ──50 s without──► Ready=Unknown ──► taints, pods not ready
//	        ▲                                        │
//	        └────────────── renewed again ───────────┘
//
// How long ago a lease was renewed is measured by the controller's own clock, from when it
// saw the change; clocks of nodes may be wrong. Health (health.go), taints (taints.go) and
// the brakes (zones.go) are pure. The brakes: a zone's nodes are tainted for eviction one
// every ten seconds, slower or not at all when most of a zone fails, and none when all
// nodes of all zones fail at once, since then it is rather the controller that is cut off.
//
// Promises: conditions, taints, events, periods and rates are upstream's defaults; before
// a node is declared lost its lease is read from the server itself.
//
//	health = health.Observe(node, lease, now)
//	if health.Silent(node, now) { node.Status.Conditions = nodelifecycle.LostConditions(node, now) }
//	taints := nodelifecycle.Taints(node, evict, now)
//
// Next: controllers/tainteviction.
package nodelifecycle
