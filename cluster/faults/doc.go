// Package faults makes a server fail as tests want it to, and tells what it was asked.
//
// A Set stands in the server's chain, behind authentication, so that it knows who asks; and before the
// calls that the server makes to webhooks. Which requests a fault concerns is told by a Match, what
// becomes of them by the Fault:
//
//	f := set.Add(faults.Fault{
//		Match: faults.Match{UserAgent: "my-operator*", Verbs: []string{"update"}, Resources: []string{"deployments/status"}},
//		Count: 3, Error: faults.Conflict(),
//	})
//	defer f.Remove()
//
// What is matched is decided by pure functions (match.go); the share of requests that a fault concerns is spread evenly, so that
// a test sees the same each time. Without faults and log, a request costs one look at a pointer.
package faults
