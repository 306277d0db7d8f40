// Package patch applies patches of every type to objects: JSON patch (RFC 6902), merge patch (RFC 7386),
// strategic merge patch, and the reading of applied configurations. It is pure: an object and a patch
// go in, the patched object comes out.
//
// Next: apiserver/registry
package patch
