// Package inprocess is an HTTP transport into a handler of the same process: no socket, no TLS, no
// copying through the kernel.
//
// A response's body is a bounded pipe: a slow reader makes the handler wait, closing the body cancels the
// request, and a panic of the handler is an error of the round trip. To a watch that asks for it, a handler hands over objects
// instead of writing them (package handover).
package inprocess
