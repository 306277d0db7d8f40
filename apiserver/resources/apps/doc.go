// Package apps holds the kinds of the group apps.
//
// Next: apiserver/resources/discovery
package apps
