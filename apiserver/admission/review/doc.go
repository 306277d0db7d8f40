// Package review is a write as policies and webhooks see it: who writes what, in each version that they
// may ask for, whether their rules select it, and the AdmissionRequest that says all of it.
//
// A Subject is made once per write and only when there is somebody to ask.
//
// Next: internal/expression
package review
