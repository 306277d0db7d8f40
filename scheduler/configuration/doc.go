// Package configuration reads a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1),
// fills in upstream's defaults and refuses what upstream refuses, in its words.
//
//	file ──► Load: strict decoding ──► SetDefaults ──► Validate
//
// Promises: unknown fields are errors; after Load no pointer that has a default is nil, each
// profile lists its plugins, and each plugin that takes arguments has them, decoded.
//
//	loaded, err := configuration.Load(data)
//
// Not there: leader election and the client's connection, which the file may say and nobody
// reads; extenders, which are refused; parallelism, since one goroutine places.
//
// Next: scheduler/plugins (New), scheduler/profiles.go.
package configuration
