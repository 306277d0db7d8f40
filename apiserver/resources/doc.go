// Package resources is the catalogue: every resource that the API server serves, one literal in one file each.
//
// To add a kind, add its file to its group's folder and name it here.
//
// Next: apiserver/resources/podspec
package resources
