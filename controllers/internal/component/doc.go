// Package component is the frame that every controller is set in: what it is
// called, what it watches, what it alone writes, and how it is added to a
// process.
//
// Promises: a Component is data and can be compared with the others (one
// writer per field is tested on exactly this); an Environment carries
// everything from outside that a controller may use, so that none of them
// reaches for a global clock, logger or event sink.
//
//	var Component = component.Component{
//		Name:    "replicaset-controller",
//		Watches: []string{"apps/replicasets", "pods"},
//		Writes:  []string{"apps/replicasets:status", "pods:create"},
//		Add:     func(env component.Environment) error { … },
//	}
//
// Next: controllers/deployment.
package component
