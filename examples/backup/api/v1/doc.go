// Package v1 is the API of the example's operator: a Backup copies a claim's content again and again, and keeps some copies. It is the version
// that is stored, and the hub of conversions.
//
// +kubebuilder:object:generate=true
// +groupName=backup.example.com
package v1
