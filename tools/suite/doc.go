// Command suite runs the official conformance suite against clusters of ours and ends with how many of its
// tests passed, and the names of those that failed.
//
//	go run ./tools/suite -bin bin -out DIR api         the 159 tests that need no pod: 149 without any node, 10 with two simulated ones
//	go run ./tools/suite -bin bin -out DIR simulated   these, and the 60 that look at the status of pods alone, on two simulated nodes
//	go run ./tools/suite -bin bin -out DIR -kubeconfig FILE all   all 462, on a cluster that is there
//
// DIR takes the JUnit reports and the suite's own output.
package main
