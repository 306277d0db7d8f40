// Package v1beta1 is the operator's first API. It named the claim otherwise, and knew a time of the day instead of a cron schedule. Objects are
// converted to and from v1 by the operator's conversion webhook.
//
// +kubebuilder:object:generate=true
// +groupName=backup.example.com
package v1beta1
