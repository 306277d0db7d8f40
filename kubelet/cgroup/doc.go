// Package cgroup keeps the control groups of pods: kubepods, below it one for each of the lower two classes of
// service, and below these one for each pod. Containers' own groups are the runtime's.
//
// It works on both versions of the kernel's interface: on v1 (also hybrid) each group is a folder in every
// hierarchy, on v2 one folder whose controllers are switched on along the way. All of it lies below the root that
// it is given, and nothing outside is touched. Values is a pure function of a pod.
//
//	groups, err := cgroup.New("/kogge/node-1")
//	err = groups.Ensure(pod)
//	parent := groups.Parent(pod) // for the sandbox's configuration
//	err = groups.Remove(pod)
package cgroup
