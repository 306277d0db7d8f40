// Package framework says what a scheduling plugin is: a rule with a name that takes part
// in one or more steps of finding a node for a pod.
//
//	PreEnqueue   may the pod be tried at all?
//	PreFilter    once per pod: work out what Filter needs; may name the only candidates
//	Filter       once per node: may the pod run there? If not, why not
//	PostFilter   no node was found: can room be made? What is to be said about it
//	PreScore     once per pod: work out what Score needs
//	Score        once per node that passed: how good is it, 0 to 100
//	Reserve      a node was chosen: claim what goes with it (Unreserve gives back)
//	Permit       last chance to refuse
//	PreBind      make ready what must be there before the pod is (volumes)
//	Bind         write the node into the pod
//
// Profile runs the plugins of each step in order. Promises: a plugin sees an immutable
// picture of the cluster (Snapshot), so steps for one pod may not disagree; a step that
// refuses explains (Status.Reasons), in words fit for kubectl describe; plugins are not
// called for steps that their PreFilter or PreScore called unneeded (Skip).
//
//	profile := framework.NewProfile(plugins...)
//	status := profile.Filter(state, pod, node)
//
// To add one: a file in scheduler/plugins that implements the steps it needs, its events
// (what in the cluster may change its mind), and a line in plugins/registry.go and,
// if it belongs to the default profile, in configuration.DefaultPlugins.
//
// Next: scheduler/plugins.
package framework
