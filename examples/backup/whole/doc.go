// Package backup runs the operator in a cluster with controllers and simulated nodes: what it owns is collected, namespaces go, pods run,
// and a week goes by at once.
package backup
