// Package wire puts stored bytes into the forms that are sent, without decoding them.
//
// What is stored has no resourceVersion and, in JSON, no kind and apiVersion; what is sent does.
// Everything here works on the bytes alone.
//
// Next: apiserver/negotiation
package wire
