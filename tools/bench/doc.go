// Command bench measures our control plane beside the genuine one, with the same client on the same machine in
// turn, and prints the table of README.
//
//	make bench                   everything; about twenty minutes on two cores
//	go run ./tools/bench -only load -steps schedule
//
// The client is client-go: 32 workers over 4 connections, JSON on the wire. What is sent and counted stands in
// writes.go, reads.go, watch.go and schedule.go.
package main
