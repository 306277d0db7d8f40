// Package discovery tells clients which groups, versions and resources there are: document by document
// as always, or all in one (KEP-3352).
//
// Next: apiserver/openapi
package discovery
