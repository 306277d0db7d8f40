// Package autoscaling holds the HorizontalPodAutoscaler in its two versions. It is stored as v2; v1 keeps
// what it has no fields for in annotations.
//
// Next: apiserver/resources/networking
package autoscaling
