// Package environment builds the environment variables of a container, and expands references to them.
//
// Build is deterministic: the same sources give the same variables in the same order. What it needs from elsewhere
// (ConfigMaps, Secrets, Services, addresses) comes through Sources; its errors are those that a user reads in
// CreateContainerConfigError.
//
//	variables, err := environment.Build(ctx, pod, container, sources)
//	command, args := environment.Command(container, variables)
package environment
