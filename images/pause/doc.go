// Pause is the first process of a pod's sandbox: it holds the pod's namespaces open, reaps the children that the
// pod's other processes leave to it, and ends on SIGTERM or SIGINT.
//
//	CGO_ENABLED=0 go build -o bin/pause ./images/pause
package main
