// Package controllers runs the loops that turn what users ask for into what there is:
// Deployments into ReplicaSets, ReplicaSets into Pods, Services into EndpointSlices,
// deleted owners into deleted dependents.
//
// controllers.go lists them in the order in which a rollout meets them; each has a
// folder of its own with the decision in plan.go and a thin shell in controller.go.
//
// Promises: they know nothing but the Kubernetes API; each says what it watches and
// what it writes, and no two write the same; they keep nothing that the API doesn't
// hold, so any of them may be killed at any time; a process may run fifty of these for
// fifty clusters, since no name, port or logger is global.
//
//	err := controllers.Run(ctx, controllers.Options{Config: config, Logger: logger, RootCA: pem})
//
// To add one: a folder with doc.go, plan.go, plan_test.go and controller.go that
// declares a component.Component, and a line in controllers.go.
//
// Next: controllers/deployment.
package controllers
