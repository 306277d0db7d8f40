// Package goform renders values of the API's types as the refusals of a genuine API server show them: with the Go names of the fields, and every
// field there, null or not. Upstream checks rules on types of its own, which have no names for JSON, so that is what reaches its messages.
// It knows nothing of the kinds; whoever has a value to show wraps it.
package goform
