// Package cgroup makes, joins and removes one named group in every cgroup hierarchy of the machine: one on
// cgroup v2, one for each controller on v1, both on a hybrid.
//
//	hierarchies, err := cgroup.Mounted()
//	group := cgroup.New(hierarchies, "kogge-dev", "node-1")
//	err = group.Create()
//	err = group.Join()       // the calling process, with all it starts from then on
//	err = group.Kill()       // everything in it and below it
//	err = group.Remove(ctx)  // waits for what was killed to be gone
package cgroup
