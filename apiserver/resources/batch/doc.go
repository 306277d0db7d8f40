// Package batch holds the kinds of the group batch: work that ends.
//
// Next: apiserver/resources/autoscaling
package batch
