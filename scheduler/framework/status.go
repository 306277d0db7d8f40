package framework

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code is the outcome of a plugin's step.
type Code int

// The outcomes. A nil *Status is a success too.
const (
	Success Code = iota
	// Error: the plugin could not tell.
	Error
	// Unschedulable: not now; removing other pods might help.
	Unschedulable
	// Unresolvable: not now, and removing pods wouldn't help.
	Unresolvable
	// Skip: the plugin has nothing to do for this pod.
	Skip
)

// Status is the outcome of a step, with what is to be said about it. It is immutable.
type Status struct {
	Code    Code
	Reasons []string
	// Plugin is who said so; Profile fills it in.
	Plugin string
	Err    error
}

// NewStatus makes a status; reasons are whole phrases as users see them.
func NewStatus(code Code, reasons ...string) *Status { return &Status{Code: code, Reasons: reasons} }

// AsStatus wraps an error; nil gives nil.
func AsStatus(err error) *Status {
	if err == nil {
		return nil
	}
	return &Status{Code: Error, Reasons: []string{err.Error()}, Err: err}
}

// IsSuccess says that there is nothing against it.
func (s *Status) IsSuccess() bool { return s == nil || s.Code == Success }

// IsSkip says that the plugin has nothing to do.
func (s *Status) IsSkip() bool { return s != nil && s.Code == Skip }

// IsRejected says that the pod was judged and refused, as against an error.
func (s *Status) IsRejected() bool {
	return s != nil && (s.Code == Unschedulable || s.Code == Unresolvable)
}

// Message is all reasons in one line.
func (s *Status) Message() string {
	if s == nil {
		return ""
	}
	return strings.Join(s.Reasons, ", ")
}

// AsError gives the status as an error; nil for a success.
func (s *Status) AsError() error {
	switch {
	case s.IsSuccess():
		return nil
	case s.Err != nil:
		return s.Err
	}
	return errors.New(s.Message())
}

// By is the status with its plugin's name on it, for those that are made once and said of
// many nodes.
func (s *Status) By(plugin string) *Status { return s.by(plugin) }

// during is the status with its plugin's name on it; an error says during which step, the
// plugin's name being in the text, it came.
func (s *Status) during(step, plugin string) *Status {
	if s == nil || s.Code != Error {
		return s.by(plugin)
	}
	return AsStatus(fmt.Errorf(step+": %w", plugin, s.AsError())).by(plugin)
}

// by is the status with its plugin's name on it.
func (s *Status) by(plugin string) *Status {
	if s == nil || s.Plugin != "" {
		return s
	}
	return &Status{Code: s.Code, Reasons: slices.Clone(s.Reasons), Plugin: plugin, Err: s.Err}
}
