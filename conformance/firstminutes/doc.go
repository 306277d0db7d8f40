// Package firstminutes keeps what a new user was promised. Its test knows nothing of the code: it has the built
// binaries in bin/ and README.md, and does what a person would do with them.
//
//   - bin/kogge creates a cluster of two real nodes, with a name of its own.
//   - Every line of README's first five minutes is read out of README and run, with the kubectl of the server's minor
//     version and with the one before. A line without an expectation here fails the test, as does an expectation whose
//     line is gone: the two can't drift apart.
//   - What else people do with kubectl in their first hour is run with both, and checked for its meaning.
//   - Pods of every temper (init container, sidecar, one that crashes, one that is killed for its memory, ...) show
//     what they should.
//   - The cluster is deleted, and the host is as it was before.
//
// Run it, as root, after `make bin build images`:
//
//	go test ./conformance/firstminutes
package firstminutes
