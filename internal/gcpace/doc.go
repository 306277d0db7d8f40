// Package gcpace decides how much garbage may gather before it is collected.
//
// The runtime's own rule lets a heap grow to twice what lives on it. That is too little for a small heap under load,
// which is collected all the time, and too much for a large one, or for a process that idles. Here the room is set in
// bytes after every collection, from what lives, from how long ago the collection before was, and from the share of the
// machine's time that collecting takes.
//
// Next: cli
package gcpace
