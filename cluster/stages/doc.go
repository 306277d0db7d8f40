// Package stages plays the lives of objects as Stage objects of kwok (kwok.x-k8s.io/v1alpha1) describe them: which objects a stage is
// for, how long it waits, and what it does to them then.
//
//	all, err := stages.Load("pod-fast.yaml", "nodes.yaml")
//	player, err := stages.New(stages.Options{Stages: all, Config: config, Node: node})
//	err = player.Run(ctx)
//
// Deciding is pure: compile.go turns a Stage into closures once, match.go, choose.go and delay.go say which stage is next and when,
// patch.go and finalizers.go what it changes. A Player watches the kinds that are named, keeps of each object only what waits for its
// moment, and does what was decided: several objects at once, one after the other for one object. An object that changes meanwhile is
// judged anew; an event that is older than what the player itself wrote is not looked at, since that of the write comes.
//
// docs/simulation.md tells which fields and functions are understood, and what differs from kwok.
//
// Next: cluster
package stages
