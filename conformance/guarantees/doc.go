// Package guarantees checks what a server promises to those who write, read and watch, on a recorded history.
//
// Its test starts the real API server as a process, lets clients write, read and watch several kinds at once, and kills the server
// again and again while they do. Each request and each event is recorded with its version. What etcd holds in the end is asked for
// by a watch from the beginning: the Truth. Then each guarantee is a pure function of the history and the truth, which returns what
// breaks it:
//
//   - durable: what was acknowledged is there.
//   - explained: what is there was asked for, once.
//   - real time: what began after another was acknowledged has a greater version.
//   - fresh, consistent, monotonic: a read holds all that was acknowledged before it, exactly the state of its version, and none older
//     than a read before it.
//   - filter: a watch tells only of what it selects.
//   - ordered, unique, atomic: of greater and greater versions, of each once, and each as it was written.
//   - bookmarked: all up to a bookmark was told before it.
//   - resumable: a watch from a version begins with the first change after it; with initial objects, with the state of their version.
//   - reliable: and leaves none out.
//
// The names are those of etcd's robustness tests. Each function has a table that shows how it fails.
//
//	go test ./conformance/guarantees                       # some seconds
//	GUARANTEES=5m go test ./conformance/guarantees         # longer: make guarantees
package guarantees
