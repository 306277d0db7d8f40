// Kogge is the one binary: it creates and deletes local clusters, and is each component of a cluster. See package
// cli.
//
//	kogge create cluster --name dev --nodes 2 --wait 60s
//	kogge delete cluster --name dev
package main
