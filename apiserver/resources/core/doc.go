// Package core holds the kinds of the core group, one file each.
//
// Next: apiserver/resources/apps
package core
