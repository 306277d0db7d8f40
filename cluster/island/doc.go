// Package island makes local clusters of real containers that share nothing with the host but one directory,
// one cgroup and one listener on the loopback address.
//
//	host namespace              the island (one network namespace)          a node (a container)
//	┌──────────────────┐        ┌──────────────────────────────┐            ┌─────────────────────────┐
//	│ kubectl ─► 127.0.0.1:P ─┐ │ 172.31.0.1:6443 ◄────────────┼── bridge ──┤ 172.31.0.2              │
//	│ supervisor       │      │ │     ▲                        │            │ init ─ containerd       │
//	│   └─ kogge server ◄─────┘ │     │ (the same process)     │            │      ├ kubelet          │
//	└──────────────────┘        └─────┼────────────────────────┘            │      └ proxy ─ pods     │
//	                                  └── kogge server's second listener    └─────────────────────────┘
//
// Neither the island nor a node has a route to the outside. A node's root is an overlay over the host's, so
// there is no image to fetch; what the host keeps private is covered (see package nodeinit).
//
// Every cluster has one supervisor, detached from the terminal. It restarts what dies: `kogge server`, and a
// whole node as a reboot would. Any of them, the supervisor too, may be killed at any moment; who comes next
// finds the others by their process records. Delete needs nothing but the directory.
//
//	directory, err := island.Locate("dev")
//	for _, step := range island.CreateSteps(directory, island.CreateOptions{Spec: spec, Wait: time.Minute}) {
//		err = step.Run(ctx) // step.Title says what it does
//	}
//	err = island.Delete(ctx, directory)
//
// Next: nodeinit, the first process of a node.
package island
