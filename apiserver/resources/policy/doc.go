// Package policy holds the kinds of the group policy.
//
// Next: apiserver/resources/autoscaling
package policy
