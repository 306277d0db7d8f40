// Package patient lets a component wait for an API server that is away: not started yet, or just restarting.
package patient
